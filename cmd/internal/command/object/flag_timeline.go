package object

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagTimelineHelp = `Print when rules of a flag begin and end to hold, and when ramps change their
percentages, from now on: up to 20 lines. As JSON, there are up to 1,000.

The namespace may be an earlier state, or one in the future, such as
shop@2026-12-01T09:00:00Z.`

func flagTimeline(o *object, complete cobra.CompletionFunc) verb {
	return verb{
		use: "timeline <flag>", short: "Show when rules of a flag begin, end and change their shares", long: flagTimelineHelp,
		example: "  guidon flag timeline new-checkout", names: "the instants", complete: cli.FirstArgument(complete),
		read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			found, err := cli.Call[guidonv1.FlagTimeline](ctx, service, "/guidon.v1.AnalysisService/GetFlagTimeline",
				&guidonv1.GetFlagTimelineRequest{NamespaceKey: o.Namespace, Key: args[0]})
			var names []string
			for _, b := range found.GetBoundaries() {
				names = append(names, b.GetAt().AsTime().Format("2006-01-02T15:04:05Z"))
			}
			return cli.Output{
				Data: cli.DataOf(found), Names: names,
				Table: func(out io.Writer) error { return printTimeline(out, found) },
			}, err
		},
	}
}

// maxTimeline limits the lines of a timeline.
const maxTimeline = 20

func printTimeline(out io.Writer, timeline *guidonv1.FlagTimeline) error {
	var lines []string
	for _, b := range timeline.GetBoundaries() {
		for _, r := range b.GetRules() {
			lines = append(lines, analysis.InstantWords(b.GetAt().AsTime())+": "+cli.Printable(r.GetText()))
		}
	}
	if len(lines) == 0 {
		lines = []string{"No rule begins, ends or changes its share from now on."}
	}
	if last := len(lines) - 1; len(lines) > maxTimeline {
		lines = append(lines[:maxTimeline-1], fmt.Sprintf("and %d more, then", len(lines)-maxTimeline), lines[last])
	}
	if timeline.GetTruncated() {
		lines = append(lines, "and more after that")
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
