package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	base.Namespace, err = tx.Namespace(ctx)
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

// Limits of the error about a changed plan: the number of differences, and the bytes of
// each. [guidon.MaxPublicMessage] must not cut it.
const (
	maxPlanDifferences = 10
	maxPlanDifference  = 150
)

// planChanged returns the error for a plan that is not the expected one. It lists the
// differences or, if the changes of the expected plan are not known, those of the plan now.
func planChanged(now *change.Plan, expected ExpectedPlan) error {
	var what []string
	if len(expected.Changes) > 0 {
		what = planDifferences(now, expected.Changes)
	} else {
		for i := range now.Changes {
			what = append(what, "now "+describePlanned(&now.Changes[i]))
		}
		if len(what) == 0 {
			what = []string{"nothing would change now"}
		}
	}
	return nothingChanged("the plan is no longer the same", what)
}

// unresolved returns the error for a plan with conflicts.
func unresolved(conflicts []change.ObjectConflicts) error {
	var what []string
	for _, o := range conflicts {
		for _, c := range o.Conflicts {
			what = append(what, fmt.Sprintf("%s %s: %s", o.Kind, guidon.Quote(o.Key), describeConflict(c)))
		}
	}
	return nothingChanged("what was changed again must be resolved", what)
}

// describeConflict returns the conflict in words, such as `enabled: before false, changed
// to true, now false`.
func describeConflict(c change.Conflict) string {
	value := func(text []byte) string {
		if len(text) == 0 {
			return "nothing"
		}
		return string(text)
	}
	text := fmt.Sprintf("before %s, changed to %s, now %s", value(c.Theirs), value(c.Base), value(c.Ours))
	if c.Name == "" {
		return text
	}
	return c.Name + ": " + text
}

// nothingChanged returns the error of an apply that was rejected for the reasons in what.
func nothingChanged(why string, what []string) error {
	if more := len(what) - maxPlanDifferences; more > 0 {
		what = append(what[:maxPlanDifferences], fmt.Sprintf("%d more", more))
	}
	for i, text := range what {
		what[i] = guidon.Shorten(text, maxPlanDifference)
	}
	return &guidon.Error{Code: guidon.FailedPrecondition, Message: fmt.Sprintf("nothing was changed: %s: %s", why, strings.Join(what, "; "))}
}

// planDifferences returns the differences between the expected changes and those of the
// plan, in words.
func planDifferences(now *change.Plan, expected []*ExpectedChange) []string {
	digests := make(map[change.Object]string, len(expected))
	for _, e := range expected {
		digests[change.Object{Kind: e.Kind, Key: e.Key}] = e.Digest
	}
	var what []string
	for i := range now.Changes {
		c := &now.Changes[i]
		o := change.Object{Kind: c.Kind, Key: c.Key}
		digest, known := digests[o]
		delete(digests, o)
		switch {
		case !known:
			what = append(what, "also "+describePlanned(c))
		case digest != c.Digest:
			what = append(what, "now "+describePlanned(c))
		}
	}
	for _, e := range expected {
		o := change.Object{Kind: e.Kind, Key: e.Key}
		if _, left := digests[o]; left {
			delete(digests, o)
			what = append(what, fmt.Sprintf("%s %q would no longer change", e.Kind, e.Key))
		}
	}
	if len(what) == 0 {
		return []string{"the changes are the same, but not the warnings, or the objects that stay as they are"}
	}
	return what
}

// describePlanned returns the change in words, such as `update flag "checkout": enabled
// true → false`.
func describePlanned(c *change.PlannedChange) string {
	text := fmt.Sprintf("%s %s %q", c.Action, c.Kind, c.Key)
	if c.Action == change.ActionUpdate {
		text += ": " + c.Summary()
	}
	return text
}
