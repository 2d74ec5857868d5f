package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const segmentGetHelp = `Show a segment with its constraints. As JSON and YAML it has the fields of import files,
and the times of its creation and last change.

The namespace may be an earlier state, such as shop@412 or shop@2026-11-20T14:03:00Z.`

func (p *program) segmentGetCommand() *cobra.Command {
	o := &objects{task{program: p}}
	command := &cobra.Command{
		Use:   "get <segment>",
		Short: "Show a segment",
		Long:  segmentGetHelp,
		Example: `  guidon segment get beta-users
  guidon segment get beta-users -o json | jq '.constraints[].property'`,
		Args:              oneArgument("segment"),
		ValidArgsFunction: firstArgument(p.completeSegments),
		RunE: p.action(func(ctx context.Context, args []string) error {
			return o.reading(ctx, func(service client.Client) error {
				content, err := o.segment(ctx, service, args[0])
				if err != nil {
					return err
				}
				return p.show(o.output, o.shownSegment(content))
			})
		}),
	}
	o.readFlags(command, "the key")
	return command
}

// segment returns the segment with its constraints.
func (o *objects) segment(ctx context.Context, service client.Client, key string) (*guidonv1.SegmentContent, error) {
	content := new(guidonv1.SegmentContent)
	err := service.Invoke(ctx, "/guidon.v1.EditService/GetSegmentContent",
		&guidonv1.GetSegmentContentRequest{NamespaceKey: o.namespace, Key: key}, content)
	return content, err
}

func (o *objects) shownSegment(content *guidonv1.SegmentContent) shown {
	return shown{
		names: []string{content.GetSegment().GetKey()},
		data: func() ([]byte, error) {
			times := stamps{o.namespace, instant(content.GetCreatedAt()), instant(content.GetUpdatedAt())}
			segments := []*service.DocumentSegment{convert.DocumentSegmentOf(content.GetSegment())}
			return objectData(&service.Document{Segments: segments}, times)
		},
		table: func(out io.Writer) error { return printSegment(out, content) },
	}
}

func printSegment(out io.Writer, content *guidonv1.SegmentContent) error {
	s := content.GetSegment()
	table := newFieldTable(out)
	table.row("KEY", s.GetKey())
	table.row("NAME", printable(s.GetName()))
	table.row("DESCRIPTION", orDash(printable(s.GetDescription())))
	table.row("MATCH", matchWord(s.GetMatchType()))
	table.row("CREATED", timeOr(instant(content.GetCreatedAt()), "-"))
	table.row("CHANGED", timeOr(instant(content.GetUpdatedAt()), "-"))
	for i, c := range s.GetConstraints() {
		table.row(fmt.Sprintf("CONSTRAINT %d", i+1), constraintLine(c))
	}
	if len(s.GetConstraints()) == 0 {
		table.row("CONSTRAINTS", "none: everybody is in the segment")
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
	return printable(line)
}
