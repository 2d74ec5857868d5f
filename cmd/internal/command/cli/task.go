package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/internal/lists"
)

// Task is one run of a command on a server or a database.
type Task struct {
	*Program
	Connection Connection
	Namespace  string
	Output     Format
	Scope      Scope
}

// With calls fn with a client.
func (t *Task) With(ctx context.Context, mode Access, fn func(client.Client) error) error {
	return t.WithClient(ctx, &t.Connection, mode, fn)
}

// Confirm is that of the program, with the answer of --yes. A dry run needs none.
func (t *Task) Confirm(what string) error {
	if t.Connection.DryRun {
		return nil
	}
	return t.Program.Confirm(what, t.Connection.Yes)
}

// Place returns where the command works, for messages.
func (t *Task) Place() string { return t.Connection.Place(t.Namespace) }

// Scope is where the things are that a command is about.
type Scope uint8

// The scopes.
const (
	InNamespace Scope = iota
	InService
	OnServer  // never in the database of the command: they are the user's own
	OnMachine // the command connects to nothing
)

// Verb is a command that shows an [Output].
type Verb struct {
	Use                  string // the name, and arguments such as <flag>
	Short, Long, Example string
	Names                string // what --output=name prints; "" for a command without --output
	AtTerminal           bool   // the table is only the default at a terminal; see [Format.AtTerminal]
	Complete             cobra.CompletionFunc
	Args                 cobra.PositionalArgs                           // nil for those that Use has
	Options              func(command *cobra.Command)                   // adds options of its own
	Check                func(command *cobra.Command) error             // checks the options, before anything is connected
	Read, Write          Act                                            // one of both
	Local                Local                                          // instead: in a database
	Run                  func(ctx context.Context, args []string) error // instead: connects and prints by itself
	Verbs                []Verb                                         // instead: a group of verbs
}

// Act runs a command and returns what it prints in the format of --output. Without data and a
// table, it has printed what there is.
type Act func(ctx context.Context, service client.Client, args []string) (Output, error)

// Local is what a verb does in the configured database, or in that of --db.
type Local struct {
	Access    Access
	AnySchema bool   // the schema may be of any release; otherwise the database must exist
	Held      string // advice if another process is using the database
	Do        func(ctx context.Context, c *config.Config, db *instance.Storage, args []string) (Output, error)
}

// usualAliases are other names of verbs.
var usualAliases = map[string][]string{
	"list": {"ls"}, "get": {"show", "describe"}, "delete": {"rm"}, "on": {"enable"}, "off": {"disable"},
	"log": {"history"}, "compare": {"diff"}, "server": {"serve"},
}

// Command returns the command of a verb that connects to nothing, or by itself.
func (p *Program) Command(v Verb) *cobra.Command {
	return (&Task{Program: p, Scope: OnMachine}).Command(v)
}

// Command returns the command of the verb.
func (t *Task) Command(v Verb) *cobra.Command {
	if v.Verbs != nil {
		return Group(v.Use, v.Short, v.Long, t.Commands(v.Verbs)...)
	}
	name, _, _ := strings.Cut(v.Use, " ")
	command := &cobra.Command{
		Use: v.Use, Aliases: usualAliases[name], Short: v.Short, Long: v.Long, Example: v.Example,
		Args: v.Args, ValidArgsFunction: v.Complete,
	}
	if v.Args == nil {
		command.Args = Arguments
	}
	command.RunE = t.Action(func(ctx context.Context, args []string) error {
		if v.Check != nil {
			if err := v.Check(command); err != nil {
				return err
			}
		}
		if v.Run != nil {
			return v.Run(ctx, args)
		}
		return t.run(ctx, v, args)
	})
	t.addFlags(command, v)
	return command
}

// Commands returns the commands of the verbs.
func (t *Task) Commands(verbs []Verb) []*cobra.Command { return lists.Map(verbs, t.Command) }

// addFlags adds the options of the verb.
func (t *Task) addFlags(command *cobra.Command, v Verb) {
	if t.Scope == InNamespace {
		NamespaceFlag(command, &t.Namespace)
	}
	switch {
	case v.AtTerminal:
		t.Output.FlagWithDefault(command, v.Names, AtTerminal)
	case v.Names != "":
		t.Output.Flag(command, v.Names)
	}
	if v.Local.Do != nil {
		DatabaseFlag(command, &t.Connection.Database)
	}
	if v.Options != nil {
		v.Options(command)
	}
	switch {
	case t.Scope == OnMachine:
	case t.Scope == OnServer:
		t.Connection.ServerFlags(command)
	case v.Write != nil:
		t.Connection.WriteFlags(command)
		if t.Scope == InService { // in a namespace, --dry-run shows a plan
			t.Connection.DryRunFlag(command)
		}
	default:
		t.Connection.Flags(command)
	}
}

func (t *Task) run(ctx context.Context, v Verb, args []string) error {
	act, mode := v.Read, Reading
	if v.Write != nil {
		act, mode = v.Write, Writing
		t.Connection.Quiet = t.Scope == InNamespace // messages have the place
	}
	if v.Local.Do != nil {
		act = func(ctx context.Context, _ client.Client, args []string) (Output, error) {
			return t.InDatabase(ctx, v.Local, args)
		}
	}
	show := func(service client.Client) error {
		output, err := act(ctx, service, args)
		if err == nil && t.Connection.DryRun {
			defer fmt.Fprintln(t.Err, "dry run: nothing was changed")
		}
		if err != nil || output.Data == nil && output.Table == nil {
			return err
		}
		format := t.Output
		if v.AtTerminal {
			format = format.AtTerminal(t.Program)
		}
		err = t.Show(format, output)
		if err != nil && v.Write != nil {
			return lostOutput(err)
		}
		if err != nil {
			return err
		}
		return output.Result
	}
	if t.Scope == OnMachine {
		return show(nil)
	}
	return t.With(ctx, mode, show)
}

// InDatabase opens the database, and closes it when it was used.
func (t *Task) InDatabase(ctx context.Context, l Local, args []string) (output Output, err error) {
	c, err := t.LoadConfig(ctx, t.Connection.Database)
	if err != nil {
		return Output{}, err
	}
	open := t.openExisting
	if l.AnySchema {
		open = t.OpenDatabase
	}
	db, err := open(ctx, c, l.Access)
	if err != nil {
		return Output{}, AdviseHeld(err, l.Held)
	}
	defer func() { err = Closing(err, db.Close) }()
	return l.Do(ctx, c, db, args)
}
