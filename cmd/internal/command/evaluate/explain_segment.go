package evaluate

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// ExplainSegmentCommand returns the command "segment explain".
func ExplainSegmentCommand(p *cli.Program) *cobra.Command {
	t := &cli.Task{Program: p}
	var input entityInput
	command := &cobra.Command{
		Use:   "explain <segment>",
		Short: "Explain whether an entity is in a segment",
		Long: `Print whether an entity is in a segment, and what each constraint compared.

At a terminal it prints a tree, otherwise the JSON of the API.`,
		Example: `  guidon segment explain beta-users -e user-42 -c country=PT
  guidon segment explain beta-users --context-file user-42.json -o name`,
		Args: cli.OneArgument("segment"),

		ValidArgsFunction: cli.FirstArgument(p.CompleteSegments),
	}
	command.RunE = p.Action(func(ctx context.Context, args []string) error {
		entity, err := input.read(p)
		if err != nil {
			return err
		}
		return t.Reading(ctx, func(c client.Client) error {
			r, err := cli.Call[guidonv1.ExplainSegmentResponse](ctx, c, "/guidon.v1.ExplainService/ExplainSegment",
				&guidonv1.ExplainSegmentRequest{NamespaceKey: t.Namespace, Key: args[0], EntityId: entity.ID, Context: entity.Context})
			if err != nil {
				return err
			}
			return p.Show(t.Output.AtTerminal(p), cli.Output{
				Data: cli.DataOf(r), Names: []string{fmt.Sprint(r.GetSegment().GetMatched())},
				Table: func(out io.Writer) error { return printMembership(out, r) },
			})
		})
	})
	input.flags(p, command)
	t.Connection.Flags(command)
	cli.NamespaceFlag(command, &t.Namespace)
	t.Output.FlagWithDefault(command, "true or false", cli.AtTerminal)
	return command
}

// printMembership prints whether the entity is in the segment as a tree.
func printMembership(out io.Writer, r *guidonv1.ExplainSegmentResponse) error {
	t := &cli.Tree{Out: bufio.NewWriter(out)}
	in := "is not in"
	if r.GetSegment().GetMatched() {
		in = "is in"
	}
	fmt.Fprintf(t.Out, "%s %s %s\n", cli.Printable(cmp.Or(r.GetEntityId(), "an entity without id")), in,
		cli.Printable(r.GetNamespaceKey()+"/"+r.GetSegment().GetKey()))
	segment(t, true, "segment "+cli.Printable(r.GetSegment().GetKey()), r.GetSegment(), "")
	return t.Out.Flush()
}
