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

const flagListHelp = `List the flags of a namespace.

--query selects those that contain all of its words in key, name, description or
metadata. It takes terms too: type:boolean, is:on, is:off, is:partly, is:unused,
owner:ada, tag:web, segment:beta-users, key:pay-.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

const flagListExample = `  guidon flag list
  guidon flag list -n shop --query 'is:off owner:ada'
  guidon flag list -o json | jq -r '.[] | select(.stepCount == 0) | .key'
  guidon flag list -o name`

func flagListCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	request := new(guidonv1.ListFlagSummariesRequest)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List flags",
		Long:    flagListHelp,
		Example: flagListExample,
		Args:    cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return o.Reading(ctx, func(service client.Client) error {
				request.NamespaceKey = o.Namespace
				flags, err := cli.AllFlags(ctx, service, request)
				if err == nil && len(flags) == 0 {
					err = o.checkNamespace(ctx, service)
				}
				if err != nil {
					return err
				}
				return p.Show(o.Output, shownFlags(flags))
			})
		}),
	}
	o.ReadFlags(command, "keys")
	command.Flags().StringVarP(&request.Query, "query", "q", "", "only flags that match these `words`")
	return command
}

func shownFlags(flags []*guidonv1.FlagSummary) cli.Output {
	return cli.ListOutput(flags, (*guidonv1.FlagSummary).GetKey, func(out io.Writer) error {
		table := cli.NewTable(out, "KEY\tNAME\tTYPE\tSTATE\tSTEPS\tOWNER\tCHANGED")
		for _, f := range flags {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", f.GetKey(), cli.Printable(f.GetName()), cli.FlagKind(f.GetType()),
				stateWord(f.GetState()), f.GetStepCount(), cli.OrDash(cli.Printable(f.GetOwner())), cli.TimeOr(cli.Instant(f.GetUpdatedAt()), "-"))
		}
		return table.Flush()
	})
}

// stateWord returns the state of a flag in one word: on, off or partly.
func stateWord(state guidonv1.FlagState) string {
	return strings.ToLower(strings.TrimSuffix(state.String(), "_FLAG_STATE"))
}
