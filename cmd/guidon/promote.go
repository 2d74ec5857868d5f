package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const promoteHelp = `Bring flags and segments of one namespace into another one, in one revision. It prints the
changes first, and asks for confirmation.

Without --flag and --segment, it brings all of them; others of the target are kept, unless
--drop is given. The segments that the flags refer to come along. Existing flags of the
target can keep their own switch (enabled), percentages or rules.

If the changes would be different by the time they are confirmed, nothing is changed.

Exit codes: 0 success, 1 error; with --dry-run: 0 nothing to do, 2 changes.`

const promoteExample = `  guidon promote staging production --flag new-checkout --with-segments
  guidon promote staging production --flag new-checkout --keep enabled,percentages --dry-run
  guidon promote staging production --drop --yes -m "release 42"`

// promoting is one run of the command.
type promoting struct {
	*program
	connection   connection
	request      guidonv1.PlanRequest
	withSegments bool
	drop         bool
	dryRun       bool
	yes          bool
	asJSON       bool
}

func (p *program) promoteCommand() *cobra.Command {
	r := &promoting{program: p}
	command := &cobra.Command{
		Use:     "promote <source> <target>",
		Short:   "Bring flags of one namespace into another",
		Long:    promoteHelp,
		Example: promoteExample,
	}
	withPlanExitCodes(p, command, r.run)
	r.connection.writeFlags(command)
	flags := command.Flags()
	flags.StringSliceVar(&r.request.FlagKeys, "flag", nil, "`keys` of the flags, separated by commas")
	flags.StringSliceVar(&r.request.SegmentKeys, "segment", nil, "`keys` of further segments, separated by commas")
	flags.BoolVar(&r.withSegments, "with-segments", true, "bring the segments that the flags refer to; =false leaves them out")
	flags.StringSliceVar(&r.request.Keep, "keep", nil, "what existing flags keep: enabled, percentages, rules")
	_ = command.RegisterFlagCompletionFunc("keep", completeWords("enabled", "percentages", "rules")) // the flag exists
	flags.BoolVar(&r.drop, "drop", false, "also delete what the source does not have from the target")
	flags.BoolVar(&r.dryRun, "dry-run", false, "print the changes and change nothing")
	flags.BoolVarP(&r.yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&r.asJSON, "json", false, "print JSON")
	return command
}

func (r *promoting) run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return usageError("specify the source and the target, such as: guidon promote staging production")
	}
	r.request.SourceNamespaceKey, r.request.NamespaceKey = args[0], args[1]
	r.request.WithoutSegments = !r.withSegments
	if r.drop {
		r.request.Mode = guidonv1.PlanMode_REPLACE_PLAN_MODE
	}
	mode := writing
	if r.dryRun {
		mode = reading
	}
	return r.withClient(ctx, &r.connection, mode, func(service client.Client) error { return r.promote(ctx, service) })
}

func (r *promoting) promote(ctx context.Context, service client.Client) error {
	plan := new(guidonv1.PlanResponse)
	if err := service.Invoke(ctx, "/guidon.v1.PlanService/Plan", &r.request, plan); err != nil {
		return err
	}
	if r.dryRun || !r.asJSON {
		if err := r.print(plan); err != nil {
			return err
		}
	}
	switch {
	case r.dryRun && len(plan.GetChanges()) > 0:
		return hasChanges
	case r.dryRun:
		return nil
	case len(plan.GetChanges()) == 0 && r.asJSON:
		return r.print(plan)
	case len(plan.GetChanges()) == 0:
		fmt.Fprintln(r.out, "nothing to do")
		return nil
	}
	if err := r.confirm(willApply(len(plan.GetChanges()), plan.GetNamespaceKey()), r.yes); err != nil {
		return err
	}
	done, err := r.apply(ctx, service, savedPlanOf(plan))
	if err != nil {
		return err
	}
	if r.asJSON {
		return r.print(done)
	}
	fmt.Fprintln(r.out, outcome{Namespace: done.GetNamespaceKey(), Changes: len(done.GetChanges()), Revision: done.GetRevision()}.text())
	return nil
}

func (r *promoting) print(plan *guidonv1.PlanResponse) error {
	if r.asJSON {
		return printPlansJSON(r.out, []*guidonv1.PlanResponse{plan})
	}
	printPlan(r.out, plan)
	return nil
}

func (r *promoting) apply(ctx context.Context, service client.Client, plan savedPlan) (*guidonv1.PlanResponse, error) {
	done := new(guidonv1.PlanResponse)
	err := service.Invoke(ctx, "/guidon.v1.PlanService/Apply", &guidonv1.ApplyRequest{
		NamespaceKey: r.request.GetNamespaceKey(), SourceNamespaceKey: r.request.GetSourceNamespaceKey(), Mode: r.request.GetMode(),
		FlagKeys: r.request.GetFlagKeys(), SegmentKeys: r.request.GetSegmentKeys(),
		WithoutSegments: r.request.GetWithoutSegments(), Keep: r.request.GetKeep(),
		Digest: plan.Digest, ExpectedChanges: plan.expected(),
	}, done)
	return done, err
}
