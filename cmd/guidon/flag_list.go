package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
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

// summaryPage is how many objects are requested at a time, the maximum of the service.
const summaryPage = 200

func (p *program) flagListCommand() *cobra.Command {
	o := &objects{task{program: p}}
	request := new(guidonv1.ListFlagSummariesRequest)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List flags",
		Long:    flagListHelp,
		Example: flagListExample,
		Args:    cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error {
			return o.reading(ctx, func(service client.Client) error {
				request.NamespaceKey = o.namespace
				flags, err := allFlags(ctx, service, request)
				if err == nil && len(flags) == 0 {
					err = o.checkNamespace(ctx, service)
				}
				if err != nil {
					return err
				}
				return p.show(o.output, shownFlags(flags))
			})
		}),
	}
	o.readFlags(command, "keys")
	command.Flags().StringVarP(&request.Query, "query", "q", "", "only flags that match these `words`")
	return command
}

// allFlags returns the summaries of all pages.
func allFlags(ctx context.Context, service client.Client, request *guidonv1.ListFlagSummariesRequest) ([]*guidonv1.FlagSummary, error) {
	var flags []*guidonv1.FlagSummary
	request.Sort, request.Limit = guidonv1.FlagSort_KEY_FLAG_SORT, summaryPage
	for {
		page := new(guidonv1.FlagSummaryList)
		if err := service.Invoke(ctx, "/guidon.v1.CatalogService/ListFlagSummaries", request, page); err != nil {
			return nil, err
		}
		flags = append(flags, page.GetFlags()...)
		if page.NextOffset == nil {
			return flags, nil
		}
		request.Offset = page.GetNextOffset()
	}
}

func shownFlags(flags []*guidonv1.FlagSummary) shown {
	return shownList(flags, (*guidonv1.FlagSummary).GetKey, func(out io.Writer) error {
		table := newTable(out, "KEY\tNAME\tTYPE\tSTATE\tSTEPS\tOWNER\tCHANGED")
		for _, f := range flags {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", f.GetKey(), printable(f.GetName()), flagKind(f.GetType()),
				stateWord(f.GetState()), f.GetStepCount(), orDash(printable(f.GetOwner())), timeOr(instant(f.GetUpdatedAt()), "-"))
		}
		return table.Flush()
	})
}

// stateWord returns the state of a flag in one word: on, off or partly.
func stateWord(state guidonv1.FlagState) string {
	return strings.ToLower(strings.TrimSuffix(state.String(), "_FLAG_STATE"))
}
