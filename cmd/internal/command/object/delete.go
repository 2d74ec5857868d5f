package object

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagDeleteHelp = `Delete flags, all of them or none. It asks for confirmation. "guidon undo" brings them
back.`

const flagDeleteExample = `  guidon flag delete old-checkout
  guidon flag delete old-checkout older-checkout --yes -m "all users have the new one"`

const segmentDeleteHelp = `Delete segments, all of them or none. It asks for confirmation. A segment that a flag refers
to cannot be deleted; "guidon segment usage" shows where it is used. "guidon undo" brings
deleted segments back.`

// objectDeleteCommand is one run of "flag delete" or "segment delete".
type objectDeleteCommand struct {
	objects
	kind string
	// check returns an error unless the object exists, and add adds its deletion to the edits.
	check func(ctx context.Context, service client.Client, key string) error
	add   func(edits *guidonv1.PatchRequest, key string)
}

func flagDeleteCommand(p *cli.Program) *cobra.Command {
	d := &objectDeleteCommand{objects: objects{cli.Task{Program: p}}, kind: "flag"}
	d.check = func(ctx context.Context, service client.Client, key string) error {
		_, err := d.flag(ctx, service, key)
		return err
	}
	d.add = func(edits *guidonv1.PatchRequest, key string) {
		edits.Flags = append(edits.Flags, &guidonv1.FlagEdit{Delete: key})
	}
	return d.command(flagDeleteHelp, flagDeleteExample, p.CompleteFlags)
}

func segmentDeleteCommand(p *cli.Program) *cobra.Command {
	d := &objectDeleteCommand{objects: objects{cli.Task{Program: p}}, kind: "segment"}
	d.check = func(ctx context.Context, service client.Client, key string) error {
		_, err := d.segment(ctx, service, key)
		return err
	}
	d.add = func(edits *guidonv1.PatchRequest, key string) {
		edits.Segments = append(edits.Segments, &guidonv1.SegmentEdit{Delete: key})
	}
	return d.command(segmentDeleteHelp, `  guidon segment delete beta-users --yes`, p.CompleteSegments)
}

func (d *objectDeleteCommand) command(help, example string, complete cobra.CompletionFunc) *cobra.Command {
	command := &cobra.Command{
		Use:               "delete <" + d.kind + ">...",
		Aliases:           []string{"rm"},
		Short:             "Delete " + d.kind + "s",
		Long:              help,
		Example:           example,
		Args:              keysToDelete(d.kind),
		ValidArgsFunction: complete,
		RunE: d.Action(func(ctx context.Context, keys []string) error {
			return d.Writing(ctx, func(service client.Client) error { return d.delete(ctx, service, keys) })
		}),
	}
	d.WriteFlags(command, "the keys")
	d.YesFlag(command)
	return command
}

func (d *objectDeleteCommand) delete(ctx context.Context, service client.Client, keys []string) error {
	edits := new(guidonv1.PatchRequest)
	for _, key := range keys {
		if err := d.check(ctx, service, key); err != nil {
			return err
		}
		d.add(edits, key)
	}
	question := fmt.Sprintf("This deletes from %s: %s %s\n", d.Place(), d.kind, strings.Join(keys, ", "))
	if err := d.Confirm(question, d.Yes); err != nil {
		return err
	}
	done, err := d.patch(ctx, service, edits)
	if err != nil {
		return err
	}
	return d.Show(d.Output, cli.Output{
		Data: cli.DataOf(done), Names: keys,
		Table: func(out io.Writer) error {
			for _, key := range keys {
				if _, err := fmt.Fprintf(out, "deleted %s %s from %s\n", d.kind, key, d.Place()); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// maxDeleted is how many objects one command deletes, the most that the service deletes at
// once.
const maxDeleted = 100

// keysToDelete is a check for the arguments of a command that deletes objects.
func keysToDelete(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, keys []string) error {
		switch {
		case len(keys) == 0:
			return cli.UsageError("missing argument <%s>: %s", what, command.UseLine())
		case len(keys) > maxDeleted:
			return cli.UsageError("at most %d can be deleted at once; got %d", maxDeleted, len(keys))
		}
		seen := make(map[string]bool)
		for _, key := range keys {
			if key == "" {
				return cli.UsageError("the %s must not be empty", what)
			}
			if seen[key] {
				return cli.UsageError("%s %q is given twice", what, key)
			}
			seen[key] = true
		}
		return nil
	}
}
