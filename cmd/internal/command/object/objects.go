// Package object has the commands about single objects: flags, segments, namespaces, tokens,
// bindings, sessions and webhooks.
package object

import (
	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// orEarlier ends the help of verbs that read states of a namespace.
const orEarlier = "\n\nThe namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z."

// object is a kind of objects, with the commands about them.
type object struct {
	*cli.Task
	kind        string // such as "flag"
	group       string // of commands, in the help of the program
	short, long string
	aliases     []string
	verbs       []cli.Verb
}

// Commands returns the commands about objects, one for each kind. Those about segments have the verb
// that explains one, too.
func Commands(p *cli.Program, explainSegment func(t *cli.Task) cli.Verb) []*cobra.Command {
	var commands []*cobra.Command
	for _, o := range []*object{flags(p), segments(p, explainSegment), namespaces(p), tokens(p), bindings(p), sessions(p), webhooks(p)} {
		command := cli.Group(o.kind, o.short, o.long, o.Commands(o.verbs)...)
		command.Aliases, command.GroupID = o.aliases, o.group
		commands = append(commands, command)
	}
	return commands
}
