package object

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const flagTimelineHelp = `Print when rules of a flag begin and end to hold, from now on.

The namespace may be an earlier state, or one in the future, such as
shop@2026-12-01T09:00:00Z.`

func flagTimeline(o *object, complete cobra.CompletionFunc) verb {
	return verb{
		use: "timeline <flag>", short: "Show when rules of a flag begin and end", long: flagTimelineHelp,
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

func printTimeline(out io.Writer, timeline *guidonv1.FlagTimeline) error {
	if len(timeline.GetBoundaries()) == 0 {
		_, err := fmt.Fprintln(out, "No rule begins or ends from now on.")
		return err
	}
	for _, b := range timeline.GetBoundaries() {
		for _, r := range b.GetRules() {
			if _, err := fmt.Fprintf(out, "%s: %s\n", analysis.InstantWords(b.GetAt().AsTime()), cli.Printable(r.GetText())); err != nil {
				return err
			}
		}
	}
	return nil
}
