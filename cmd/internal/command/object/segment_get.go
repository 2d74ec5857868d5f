package object

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const segmentGetHelp = `Show a segment with its constraints. As JSON and YAML it has the fields of import files,
and the times of its creation and last change.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

func segmentGetCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	command := &cobra.Command{
		Use:   "get <segment>",
		Short: "Show a segment",
		Long:  segmentGetHelp,
		Example: `  guidon segment get beta-users
  guidon segment get beta-users -o json | jq '.constraints[].property'`,
		Args:              cli.OneArgument("segment"),
		ValidArgsFunction: cli.FirstArgument(p.CompleteSegments),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			return o.Reading(ctx, func(service client.Client) error {
				content, err := o.segment(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.Show(o.Output, o.shownSegment(content))
			})
		}),
	}
	o.ReadFlags(command, "the key")
	return command
}

// segment returns the segment with its constraints.
func (o *objects) segment(ctx context.Context, service client.Client, key string) (*guidonv1.SegmentContent, error) {
	content := new(guidonv1.SegmentContent)
	err := service.Invoke(ctx, "/guidon.v1.EditService/GetSegmentContent",
		&guidonv1.GetSegmentContentRequest{NamespaceKey: o.Namespace, Key: key}, content)
	return content, err
}

func (o *objects) shownSegment(content *guidonv1.SegmentContent) cli.Output {
	return cli.Output{
		Names: []string{content.GetSegment().GetKey()},
		Data: func() ([]byte, error) {
			times := stamps{o.Namespace, cli.Instant(content.GetCreatedAt()), cli.Instant(content.GetUpdatedAt())}
			segments := []*service.DocumentSegment{convert.DocumentSegmentOf(content.GetSegment())}
			return objectData(&service.Document{Segments: segments}, times)
		},
		Table: func(out io.Writer) error { return printSegment(out, content) },
	}
}

func printSegment(out io.Writer, content *guidonv1.SegmentContent) error {
	s := content.GetSegment()
	table := cli.NewFieldTable(out)
	table.Row("KEY", s.GetKey())
	table.Row("NAME", cli.Printable(s.GetName()))
	table.Row("DESCRIPTION", cli.OrDash(cli.Printable(s.GetDescription())))
	table.Row("MATCH", matchWord(s.GetMatchType()))
	table.Row("CREATED", cli.TimeOr(cli.Instant(content.GetCreatedAt()), "-"))
	table.Row("CHANGED", cli.TimeOr(cli.Instant(content.GetUpdatedAt()), "-"))
	for i, c := range s.GetConstraints() {
		table.Row(fmt.Sprintf("CONSTRAINT %d", i+1), constraintLine(c))
	}
	if len(s.GetConstraints()) == 0 {
		table.Row("CONSTRAINTS", "none: everybody is in the segment")
	}
	return table.Flush()
}

// matchWord returns whether all constraints must match, or any.
func matchWord(match flipt.MatchType) string {
	if match == flipt.MatchType_ANY_MATCH_TYPE {
		return "any"
	}
	return "all"
}

// constraintLine returns a constraint as --constraint takes it.
func constraintLine(c *guidonv1.DocumentConstraint) string {
	line := ""
	if c.GetType() != flipt.ComparisonType_STRING_COMPARISON_TYPE {
		line = comparisonWord(c.GetType()) + ":"
	}
	line += strings.TrimSpace(strings.Join([]string{c.GetProperty(), c.GetOperator(), c.GetValue()}, " "))
	if c.GetDescription() != "" {
		line += " (" + c.GetDescription() + ")"
	}
	return cli.Printable(line)
}
