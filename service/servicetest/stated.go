package servicetest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// unstated returns what the records of a revision say that the plan did not state, or the
// other way round; or "". The records tell it alone: nothing else is read.
func unstated(plan *service.Plan, records []*change.Record) string {
	var want, got []string
	for i := range plan.Changes {
		c := &plan.Changes[i]
		want = append(want, fmt.Sprintf("%s %s %s", c.Action, c.Kind, c.Key))
	}
	for _, r := range records {
		got = append(got, fmt.Sprintf("%s %s %s", r.Action, r.Kind, r.Key))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Sprintf("the plan stated other changes (-stated +made):\n%s", diff)
	}
	for i, r := range records {
		if problem := unstatedChange(&plan.Changes[i], r); problem != "" {
			return fmt.Sprintf("%s %s %q: %s", r.Action, r.Kind, r.Key, problem)
		}
	}
	return ""
}

// unstatedChange makes the plan of one change from its record, and compares the digests.
func unstatedChange(stated *change.PlannedChange, r *change.Record) string {
	before, errBefore := objectsOf(r.Kind, r.Before)
	after, errAfter := objectsOf(r.Kind, r.After)
	if errBefore != nil || errAfter != nil {
		return fmt.Sprintf("cannot be read: %v, %v", errBefore, errAfter)
	}
	patch := change.Patch{Put: after}
	if r.Action == change.ActionDelete {
		switch r.Kind {
		case change.KindFlag:
			patch.Delete.Flags = []string{r.Key}
		case change.KindSegment:
			patch.Delete.Segments = []string{r.Key}
		}
	}
	made, err := change.NewPlan(before, patch, change.PlanOptions{Required: map[string]bool{r.Key: stated.Required}})
	switch {
	case err != nil:
		return err.Error()
	case len(made.Changes) != 1:
		return fmt.Sprintf("it is %d changes", len(made.Changes))
	}
	if diff := cmp.Diff(stated.Differences, made.Changes[0].Differences, cmpopts.IgnoreUnexported(change.Difference{})); diff != "" {
		return fmt.Sprintf("the plan stated other differences (-stated +made):\n%s", diff)
	}
	if stated.Digest != made.Changes[0].Digest {
		return "its digest is not that of the plan"
	}
	if !sameContents(stated.Before, before) || !sameContents(stated.After, after) {
		return "it has not the content that the plan stated"
	}
	return ""
}

// sameContents reports whether both have the same object, or none. Ids and ranks do not
// count: while a plan waits, an object may be replaced by an equal one.
func sameContents(a, b change.Objects) bool {
	return namespaceRules.same(exact, a.Namespace, b.Namespace) &&
		slices.EqualFunc(a.Segments, b.Segments, func(a, b *guidon.Segment) bool { return segmentRules.same(order, a, b) }) &&
		slices.EqualFunc(a.Flags, b.Flags, func(a, b *guidon.Flag) bool { return flagRules.same(order, a, b) })
}

// objectsOf returns the object of a record, if there is one.
func objectsOf(kind change.Kind, text json.RawMessage) (o change.Objects, err error) {
	if len(text) == 0 {
		return o, nil
	}
	switch kind {
	case change.KindNamespace:
		o.Namespace = new(guidon.Namespace)
		return o, json.Unmarshal(text, o.Namespace)
	case change.KindSegment:
		o.Segments = []*guidon.Segment{new(guidon.Segment)}
		err := json.Unmarshal(text, o.Segments[0])
		o.Segments[0].Unmark()
		return o, err
	case change.KindFlag:
		o.Flags = []*guidon.Flag{new(guidon.Flag)}
		err := json.Unmarshal(text, o.Flags[0])
		o.Flags[0].Unmark()
		return o, err
	}
	return o, fmt.Errorf("a record of a %s", kind)
}
