package service

import (
	"context"
	"errors"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// maxReadByKey is the number of flags up to which these are read one by one for a plan,
// instead of all flags of the namespace.
const maxReadByKey = 100

// apply makes the plan from the state in the transaction and, if it is the expected one,
// carries it out.
func (p *planner) apply(ctx context.Context, by Caller, tx Tx, expected ExpectedPlan) (*Plan, error) {
	plan, err := p.planIn(ctx, by, tx)
	if err != nil {
		return nil, err
	}
	if len(plan.Conflicts) > 0 {
		return plan, unresolved(plan.Conflicts)
	}
	if plan.Digest != expected.Digest {
		return plan, planChanged(plan.Plan, expected)
	}
	if plan.Patch.Put.Namespace != nil {
		if err := mayPutNamespace(by, p.Namespace); err != nil {
			return nil, err
		}
	}
	if u, is := p.proposal.(*undoPlan); is {
		if err := u.place(ctx, tx, plan.Plan); err != nil {
			return nil, err
		}
	}
	// No flag refers to the segments that are deleted: that has been checked.
	patching := &patchApplier{tx: tx, namespace: p.Namespace, used: map[string]bool{}}
	return plan, patching.apply(ctx, plan.Patch)
}

// planIn makes the plan from the state in the transaction. It reads only the selected flags
// if they are few, but all of them if the plan updates a segment: other flags may use it.
func (p *planner) planIn(ctx context.Context, by Caller, tx Tx) (*Plan, error) {
	base, all, err := p.readBase(ctx, tx)
	if err != nil {
		return nil, err
	}
	if base.Namespace == nil {
		if err := mayPutNamespace(by, p.Namespace); err != nil {
			return nil, err
		}
	}
	plan, err := p.plan(base, 0, tx.Now())
	if err != nil || all || !updatesSegment(plan.Plan) {
		return plan, err
	}
	if base.Flags, err = tx.Flags(ctx); err != nil {
		return nil, err
	}
	return p.plan(base, 0, tx.Now())
}

func updatesSegment(p *change.Plan) bool {
	return slices.ContainsFunc(p.Changes, func(c change.PlannedChange) bool {
		return c.Kind == change.KindSegment && c.Action == change.ActionUpdate
	})
}

// readBase returns the state in the transaction, and whether it has all flags: otherwise
// it has the selected ones.
func (p *planner) readBase(ctx context.Context, tx Tx) (base change.Objects, all bool, err error) {
	base.Namespace, err = existingNamespace(ctx, tx, p.Namespace)
	if errors.Is(err, guidon.NotFound) && p.mayCreate() {
		return change.Objects{}, true, nil
	}
	if err != nil {
		return base, false, err
	}
	if base.Segments, err = tx.Segments(ctx); err != nil {
		return base, false, err
	}
	keys, all := p.flagKeys()
	if all || len(keys) > maxReadByKey {
		base.Flags, err = tx.Flags(ctx)
		return base, true, err
	}
	for key := range keys {
		f, err := tx.Flag(ctx, key)
		switch {
		case err == nil:
			base.Flags = append(base.Flags, f)
		case !errors.Is(err, guidon.NotFound):
			return base, false, err
		}
	}
	return base, false, nil
}
