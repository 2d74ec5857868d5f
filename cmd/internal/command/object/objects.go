// Package object has the commands about single objects: flags, segments, namespaces, tokens,
// bindings, sessions and webhooks.
package object

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// object is a kind of objects, with the commands about them.
type object struct {
	*cli.Task
	kind        string // such as "flag"
	group       string // of commands, in the help of the program
	short, long string
	aliases     []string
	place       place
	verbs       []verb
}

// place is where the objects of a kind are.
type place uint8

const (
	inNamespace place = iota
	inService
	onServer // never in the database of the command: they are the user's own
)

// verb is one command about objects of a kind.
type verb struct {
	use                  string // the name, and an argument such as <flag>
	short, long, example string
	names                string // what --output=name prints; "" for a command without --output
	complete             cobra.CompletionFunc
	args                 cobra.PositionalArgs               // nil for the one that use has, or none
	options              func(command *cobra.Command)       // adds options of its own
	check                func(command *cobra.Command) error // checks the options, before anything is connected
	read, write          action                             // one of both
	verbs                []verb                             // instead: a group of verbs
}

// action runs a command and returns what it prints in the format of --output.
type action func(ctx context.Context, service client.Client, args []string) (cli.Output, error)

// Commands returns the commands about objects, one for each kind, with further ones by kind.
func Commands(p *cli.Program, further map[string]*cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, o := range []*object{flags(p), segments(p), namespaces(p), tokens(p), bindings(p), sessions(p), webhooks(p)} {
		command := o.command()
		if more := further[o.kind]; more != nil {
			command.AddCommand(more)
		}
		commands = append(commands, command)
	}
	return commands
}

// command returns the command of the kind, with those of its verbs.
func (o *object) command() *cobra.Command {
	command := cli.Group(o.kind, o.short, o.long)
	command.Aliases, command.GroupID = o.aliases, o.group
	for _, v := range o.verbs {
		command.AddCommand(o.verb(v))
	}
	return command
}

// usualAliases are other names of verbs.
var usualAliases = map[string][]string{
	"list": {"ls"}, "get": {"show", "describe"}, "delete": {"rm"}, "on": {"enable"}, "off": {"disable"},
}

func (o *object) verb(v verb) *cobra.Command {
	if v.verbs != nil {
		group := cli.Group(v.use, v.short, v.long)
		for _, v := range v.verbs {
			group.AddCommand(o.verb(v))
		}
		return group
	}
	name, argument, _ := strings.Cut(v.use, " ")
	args := v.args
	if args == nil {
		args = cobra.NoArgs
		if argument != "" {
			args = cli.OneArgument(strings.Trim(argument, "<>"))
		}
	}
	command := &cobra.Command{
		Use: v.use, Aliases: usualAliases[name], Short: v.short, Long: v.long, Example: v.example,
		Args: args, ValidArgsFunction: v.complete,
	}
	command.RunE = o.Action(func(ctx context.Context, args []string) error {
		if v.check != nil {
			if err := v.check(command); err != nil {
				return err
			}
		}
		return o.run(ctx, v, args)
	})
	o.addFlags(command, v)
	return command
}

// addFlags adds the options of the verb.
func (o *object) addFlags(command *cobra.Command, v verb) {
	switch {
	case o.place == onServer:
		o.Connection.ServerFlags(command)
	case v.write != nil:
		o.Connection.WriteFlags(command)
		if o.place == inService { // in a namespace, --dry-run shows a plan
			o.Connection.DryRunFlag(command)
		}
	default:
		o.Connection.Flags(command)
	}
	if o.place == inNamespace {
		cli.NamespaceFlag(command, &o.Namespace)
	}
	if v.names != "" {
		o.Output.Flag(command, v.names)
	}
	if v.options != nil {
		v.options(command)
	}
}

func (o *object) run(ctx context.Context, v verb, args []string) error {
	act, with := v.read, o.Reading
	if v.write != nil {
		act, with = v.write, o.Writing
		o.Connection.Quiet = o.place == inNamespace // messages have the place
	}
	return with(ctx, func(service client.Client) error {
		output, err := act(ctx, service, args)
		if err == nil && o.Connection.DryRun {
			defer fmt.Fprintln(o.Err, "dry run: nothing was changed")
		}
		if err != nil || output.Data == nil && output.Table == nil { // it has printed what there is
			return err
		}
		return o.Show(o.Output, output)
	})
}
