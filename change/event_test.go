package change_test

import (
	"encoding/json"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// TestEvent: a record is one event; what turns a flag off or on comes before its other changes.
func TestEvent(t *testing.T) {
	on := guidon.Flag{Key: "a", Name: "A", Type: guidon.BooleanFlag, Enabled: true}
	with := func(f guidon.Flag, edit func(f *guidon.Flag)) *guidon.Flag {
		edit(&f)
		return &f
	}
	segment := &guidon.Segment{Key: "s", Name: "S"}
	for _, test := range []struct {
		name          string
		kind          change.Kind
		before, after any
		want          change.Event
	}{
		{"created", change.KindFlag, nil, on, change.EventCreated},
		{"deleted", change.KindSegment, segment, nil, change.EventDeleted},
		{"off", change.KindFlag, on, with(on, func(f *guidon.Flag) { f.Enabled, f.Name = false, "B" }), change.EventTurnedOff},
		{"on", change.KindFlag, with(on, func(f *guidon.Flag) { f.Enabled = false }), on, change.EventTurnedOn},
		{"renamed", change.KindFlag, on, with(on, func(f *guidon.Flag) { f.Name, f.Description, f.Metadata = "B", "d", json.RawMessage(`{"a":1}`) }), change.EventOther},
		{"targeting", change.KindFlag, on, with(on, func(f *guidon.Flag) {
			f.Rollouts = []*guidon.Rollout{{ID: "1", Threshold: &guidon.RolloutThreshold{Percentage: 20}}}
		}), change.EventTargeting},
		{"segment renamed", change.KindSegment, segment, &guidon.Segment{Key: "s", Name: "T"}, change.EventOther},
		{"constraints", change.KindSegment, segment, &guidon.Segment{Key: "s", Name: "S", Constraints: []*guidon.Constraint{
			{ID: "1", Type: guidon.StringComparison, Property: "p", Operator: guidon.OpEQ, Value: "v"},
		}}, change.EventTargeting},
		{"namespace", change.KindNamespace, &guidon.Namespace{Key: "n"}, &guidon.Namespace{Key: "n", Name: "N"}, change.EventOther},
		{"token", change.KindAuthentication, nil, map[string]any{}, change.EventAccess},
		{"another form", change.KindFlag, map[string]any{"rules": 1}, on, change.EventOther},
	} {
		c := change.Record{Kind: test.kind, Action: change.ActionUpdate}
		if test.before == nil {
			c.Action = change.ActionCreate
		} else {
			c.Before, _ = json.Marshal(test.before)
		}
		if test.after == nil {
			c.Action = change.ActionDelete
		} else {
			c.After, _ = json.Marshal(test.after)
		}
		if got := c.Event(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
