package service

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

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
	type object struct {
		kind change.Kind
		key  string
	}
	digests := make(map[object]string, len(expected))
	for _, e := range expected {
		digests[object{e.Kind, e.Key}] = e.Digest
	}
	var what []string
	for i := range now.Changes {
		c := &now.Changes[i]
		digest, known := digests[object{c.Kind, c.Key}]
		delete(digests, object{c.Kind, c.Key})
		switch {
		case !known:
			what = append(what, "also "+describePlanned(c))
		case digest != c.Digest:
			what = append(what, "now "+describePlanned(c))
		}
	}
	for _, e := range expected {
		if _, left := digests[object{e.Kind, e.Key}]; left {
			delete(digests, object{e.Kind, e.Key})
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
