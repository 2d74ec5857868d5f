package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagDeleteHelp = `Delete flags, all of them or none. It asks for confirmation. "guidon undo" brings them
back.`

func (p *program) flagDeleteCommand() *cobra.Command {
	o := &objects{program: p}
	command := &cobra.Command{
		Use:     "delete <flag>...",
		Aliases: []string{"rm"},
		Short:   "Delete flags",
		Long:    flagDeleteHelp,
		Example: `  guidon flag delete old-checkout
  guidon flag delete old-checkout older-checkout --yes -m "all users have the new one"`,
		Args:              keysToDelete("flag"),
		ValidArgsFunction: p.completeFlags,
		RunE: p.action(func(ctx context.Context, keys []string) error {
			return o.writing(ctx, func(service client.Client) error { return o.deleteFlags(ctx, service, keys) })
		}),
	}
	o.writeFlags(command, "the keys")
	o.yesFlag(command)
	return command
}

func (o *objects) deleteFlags(ctx context.Context, service client.Client, keys []string) error {
	request := new(guidonv1.PatchRequest)
	for _, key := range keys {
		if _, err := o.flag(ctx, service, key); err != nil {
			return err
		}
		request.Flags = append(request.Flags, &guidonv1.FlagEdit{Delete: key})
	}
	if err := o.confirmDelete("flag", keys); err != nil {
		return err
	}
	done, err := o.patch(ctx, service, request)
	if err != nil {
		return err
	}
	return o.showDeleted("flag", keys, done)
}

// showDeleted prints what was deleted.
func (o *objects) showDeleted(what string, keys []string, done *guidonv1.EditResponse) error {
	return o.show(o.output, shown{
		data: dataOf(done), names: keys,
		table: func(out io.Writer) error {
			for _, key := range keys {
				if _, err := fmt.Fprintf(out, "deleted %s %s from %s\n", what, key, o.place()); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
