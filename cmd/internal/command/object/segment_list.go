package object

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentListHelp = `List the segments of a namespace. --query selects those that contain all of its words in
key, name, description or a constraint.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

func segmentListCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	request := new(guidonv1.ListSegmentSummariesRequest)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List segments",
		Long:    segmentListHelp,
		Example: `  guidon segment list
  guidon segment list -n shop --query country -o json`,
		Args: cobra.NoArgs,
		RunE: p.Action(func(ctx context.Context, _ []string) error {
			return o.Reading(ctx, func(service client.Client) error {
				request.NamespaceKey = o.Namespace
				segments, err := cli.AllSegments(ctx, service, request)
				if err == nil && len(segments) == 0 {
					err = o.checkNamespace(ctx, service)
				}
				if err != nil {
					return err
				}
				return p.Show(o.Output, shownSegments(segments))
			})
		}),
	}
	o.ReadFlags(command, "keys")
	command.Flags().StringVarP(&request.Query, "query", "q", "", "only segments that match these `words`")
	return command
}

func shownSegments(segments []*guidonv1.SegmentSummary) cli.Output {
	return cli.ListOutput(segments, (*guidonv1.SegmentSummary).GetKey, func(out io.Writer) error {
		table := cli.NewTable(out, "KEY\tNAME\tFLAGS\tCHANGED\tCONDITIONS")
		for _, s := range segments {
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", s.GetKey(), cli.Printable(s.GetName()), s.GetFlagCount(),
				cli.TimeOr(cli.Instant(s.GetUpdatedAt()), "-"), cli.Printable(s.GetConditions()))
		}
		return table.Flush()
	})
}
