// Package changes has the commands that plan, apply, compare, list and undo changes.
package changes

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// changeCommand is one run of a command that applies the plan of one request: "promote",
// "restore" or "undo".
type changeCommand struct {
	cli.Task
	request guidonv1.PlanRequest
	dryRun  bool

	differences cli.Differences

	// prepare, which may be nil, completes the request.
	prepare func(ctx context.Context, service client.Client) error
}

func newChange(p *cli.Program) changeCommand {
	return changeCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
}

// flags adds the flags that all of these commands have.
func (c *changeCommand) flags(command *cobra.Command) {
	c.differences.Flag(command, "changes (requires --dry-run)")
	c.Connection.WriteFlags(command)
	flags := command.Flags()
	flags.StringSliceVar(&c.request.FlagKeys, "flag", nil, "`keys` of the flags, separated by commas")
	flags.StringSliceVar(&c.request.SegmentKeys, "segment", nil, "`keys` of segments, separated by commas")
	flags.BoolVar(&c.dryRun, "dry-run", false, "print the changes and change nothing")
	effectFlag(command, &c.request.WithEffects)
}

// checkSelection refuses options without a value: without them, everything is changed.
func checkSelection(command *cobra.Command) error {
	return cli.NotEmpty(command, "flag", "segment", "keep")
}

// keepFlag adds the flag --keep.
func (c *changeCommand) keepFlag(command *cobra.Command) {
	command.Flags().StringSliceVar(&c.request.Keep, "keep", nil, "what existing flags keep: enabled, percentages, rules")
	_ = command.RegisterFlagCompletionFunc("keep", cli.CompleteWords("enabled", "percentages", "rules")) // the flag exists
}

// run makes the plan, prints it, and applies it if the user confirms that.
func (c *changeCommand) run(ctx context.Context) error {
	if err := c.differences.Check(c.dryRun); err != nil {
		return err
	}
	mode := cli.Writing
	if c.dryRun {
		mode = cli.Reading
	}
	return c.With(ctx, mode, func(service client.Client) error {
		if c.prepare != nil {
			if err := c.prepare(ctx, service); err != nil {
				return err
			}
		}
		return c.change(ctx, service)
	})
}

func (c *changeCommand) change(ctx context.Context, service client.Client) error {
	plan, err := cli.Call[guidonv1.PlanResponse](ctx, service, "/guidon.v1.PlanService/Plan", &c.request)
	if err != nil {
		return err
	}
	changes := len(plan.GetChanges())
	if c.dryRun || !c.Output.ForPrograms() || changes == 0 {
		if err := c.print(plan); err != nil {
			return err
		}
	}
	switch {
	case len(plan.GetConflicts()) > 0:
		return mustResolve(len(plan.GetConflicts()))
	case c.dryRun:
		return c.differences.Result(changes > 0)
	case changes == 0 && c.Output.ForPrograms():
		return nil
	case changes == 0:
		fmt.Fprintln(c.Out, "nothing to do")
		return nil
	}
	if err := c.Confirm(WillApply(changes, c.Connection.Place(plan.GetNamespaceKey()))); err != nil {
		return err
	}
	done, err := apply(ctx, service, &c.request, savedPlanOf(plan))
	if err != nil {
		return err
	}
	if c.Output.ForPrograms() {
		done.Effects, done.EffectsTruncated = plan.GetEffects(), plan.GetEffectsTruncated() // only a plan has them
		return c.print(done)
	}
	fmt.Fprintln(c.Out, outcome{Namespace: done.GetNamespaceKey(), Changes: len(done.GetChanges()), Revision: done.GetRevision()}.text())
	return nil
}

func (c *changeCommand) print(plan *guidonv1.PlanResponse) error {
	return c.Show(c.Output, shownPlans([]*guidonv1.PlanResponse{plan}))
}

// apply applies the plan of the request, if it is still the same.
func apply(ctx context.Context, service client.Client, q *guidonv1.PlanRequest, plan savedPlan) (*guidonv1.PlanResponse, error) {
	return cli.Call[guidonv1.PlanResponse](ctx, service, "/guidon.v1.PlanService/Apply", &guidonv1.ApplyRequest{
		NamespaceKey: q.GetNamespaceKey(), Document: q.GetDocument(), SourceNamespaceKey: q.GetSourceNamespaceKey(), Undo: q.GetUndo(),
		Mode: q.GetMode(), FlagKeys: q.GetFlagKeys(), SegmentKeys: q.GetSegmentKeys(), WithoutSegments: q.GetWithoutSegments(),
		Keep: q.GetKeep(), IgnoreUnknown: q.GetIgnoreUnknown(), Digest: plan.Digest, ExpectedChanges: plan.Changes,
	})
}
