package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentListHelp = `List the segments of a namespace. --query selects those that contain all of its words in
key, name, description or a constraint.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

func (p *program) segmentListCommand() *cobra.Command {
	o := &objects{task{program: p}}
	request := new(guidonv1.ListSegmentSummariesRequest)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List segments",
		Long:    segmentListHelp,
		Example: `  guidon segment list
  guidon segment list -n shop --query country -o json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error {
			return o.reading(ctx, func(service client.Client) error {
				request.NamespaceKey = o.namespace
				segments, err := allSegments(ctx, service, request)
				if err == nil && len(segments) == 0 {
					err = o.checkNamespace(ctx, service)
				}
				if err != nil {
					return err
				}
				return p.show(o.output, shownSegments(segments))
			})
		}),
	}
	o.readFlags(command, "keys")
	command.Flags().StringVarP(&request.Query, "query", "q", "", "only segments that match these `words`")
	return command
}

// allSegments returns the summaries of all pages.
func allSegments(
	ctx context.Context, service client.Client, request *guidonv1.ListSegmentSummariesRequest,
) ([]*guidonv1.SegmentSummary, error) {
	var segments []*guidonv1.SegmentSummary
	request.Sort, request.Limit = guidonv1.SegmentSort_KEY_SEGMENT_SORT, summaryPage
	for {
		page := new(guidonv1.SegmentSummaryList)
		if err := service.Invoke(ctx, "/guidon.v1.CatalogService/ListSegmentSummaries", request, page); err != nil {
			return nil, err
		}
		segments = append(segments, page.GetSegments()...)
		if page.NextOffset == nil {
			return segments, nil
		}
		request.Offset = page.GetNextOffset()
	}
}

func shownSegments(segments []*guidonv1.SegmentSummary) shown {
	return shownList(segments, (*guidonv1.SegmentSummary).GetKey, func(out io.Writer) error {
		table := newTable(out, "KEY\tNAME\tFLAGS\tCHANGED\tCONDITIONS")
		for _, s := range segments {
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", s.GetKey(), printable(s.GetName()), s.GetFlagCount(),
				timeOr(instant(s.GetUpdatedAt()), "-"), printable(s.GetConditions()))
		}
		return table.Flush()
	})
}
