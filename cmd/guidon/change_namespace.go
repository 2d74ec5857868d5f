package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// changing is one run of a command that applies the plan of one request: "promote",
// "restore" or "undo".
type changing struct {
	*program
	connection connection
	request    guidonv1.PlanRequest
	dryRun     bool
	yes        bool
	output     outputFormat

	// prepare, which may be nil, completes the request.
	prepare func(ctx context.Context, service client.Client) error
}

// flags adds the flags that all of these commands have.
func (r *changing) flags(command *cobra.Command) {
	r.connection.writeFlags(command)
	flags := command.Flags()
	flags.StringSliceVar(&r.request.FlagKeys, "flag", nil, "`keys` of the flags, separated by commas")
	flags.StringSliceVar(&r.request.SegmentKeys, "segment", nil, "`keys` of segments, separated by commas")
	flags.BoolVar(&r.dryRun, "dry-run", false, "print the changes and change nothing")
	flags.BoolVarP(&r.yes, "yes", "y", false, "do not ask for confirmation")
	effectFlag(command, &r.request.WithEffects)
	r.output.flag(command, "what changes, such as shop/flag/new-checkout")
}

// keepFlag adds the flag --keep.
func (r *changing) keepFlag(command *cobra.Command) {
	command.Flags().StringSliceVar(&r.request.Keep, "keep", nil, "what existing flags keep: enabled, percentages, rules")
	_ = command.RegisterFlagCompletionFunc("keep", completeWords("enabled", "percentages", "rules")) // the flag exists
}

// run makes the plan, prints it, and applies it if the user confirms that.
func (r *changing) run(ctx context.Context) error {
	mode := writing
	if r.dryRun {
		mode = reading
	}
	return r.withClient(ctx, &r.connection, mode, func(service client.Client) error {
		if r.prepare != nil {
			if err := r.prepare(ctx, service); err != nil {
				return err
			}
		}
		return r.change(ctx, service)
	})
}

func (r *changing) change(ctx context.Context, service client.Client) error {
	plan := new(guidonv1.PlanResponse)
	if err := service.Invoke(ctx, "/guidon.v1.PlanService/Plan", &r.request, plan); err != nil {
		return err
	}
	changes := len(plan.GetChanges())
	if r.dryRun || !r.output.data() || changes == 0 {
		if err := r.print(plan); err != nil {
			return err
		}
	}
	switch {
	case len(plan.GetConflicts()) > 0:
		return mustResolve(len(plan.GetConflicts()))
	case r.dryRun && changes > 0:
		return hasChanges
	case r.dryRun || changes == 0 && r.output.data():
		return nil
	case changes == 0:
		fmt.Fprintln(r.out, "nothing to do")
		return nil
	}
	if err := r.confirm(willApply(changes, plan.GetNamespaceKey()), r.yes); err != nil {
		return err
	}
	done, err := r.apply(ctx, service, savedPlanOf(plan))
	if err != nil {
		return err
	}
	if r.output.data() {
		done.Effects, done.EffectsTruncated = plan.GetEffects(), plan.GetEffectsTruncated() // only a plan has them
		return r.print(done)
	}
	fmt.Fprintln(r.out, outcome{Namespace: done.GetNamespaceKey(), Changes: len(done.GetChanges()), Revision: done.GetRevision()}.text())
	return nil
}

func (r *changing) print(plan *guidonv1.PlanResponse) error {
	return r.show(r.output, shownPlans([]*guidonv1.PlanResponse{plan}))
}

func (r *changing) apply(ctx context.Context, service client.Client, plan savedPlan) (*guidonv1.PlanResponse, error) {
	done := new(guidonv1.PlanResponse)
	err := service.Invoke(ctx, "/guidon.v1.PlanService/Apply", &guidonv1.ApplyRequest{
		NamespaceKey: r.request.GetNamespaceKey(), SourceNamespaceKey: r.request.GetSourceNamespaceKey(), Undo: r.request.GetUndo(),
		Mode: r.request.GetMode(), FlagKeys: r.request.GetFlagKeys(), SegmentKeys: r.request.GetSegmentKeys(),
		WithoutSegments: r.request.GetWithoutSegments(), Keep: r.request.GetKeep(),
		Digest: plan.Digest, ExpectedChanges: plan.expected(),
	}, done)
	return done, err
}
