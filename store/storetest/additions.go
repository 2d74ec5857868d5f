package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// RunAdditions checks that the store refuses additions until its database permits them. It
// withdraws that first. permit is what another process does to the database.
func RunAdditions(t *testing.T, s service.Store, db *sql.DB, permit func(t *testing.T)) {
	execute(t, db, "DELETE FROM schema_steps WHERE version_id = 9")
	plain := func(key string) *guidon.Segment {
		return &guidon.Segment{Key: key, Constraints: []*guidon.Constraint{
			{ID: "c", Type: guidon.EntityIDComparison, Property: guidon.EntityProperty, Operator: "eq", Value: "a"},
		}}
	}
	addition := func(key string) *guidon.Segment {
		g := plain(key)
		g.Constraints[0].Negate = true
		return g
	}
	put := func(segments ...*guidon.Segment) (int64, error) {
		return s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			var all error
			for _, g := range segments {
				all = errors.Join(all, tx.PutSegment(ctx, g))
			}
			return all
		})
	}
	for name, f := range flagsWithAdditions() {
		_, err := s.Update(t.Context(), defaultNamespace, service.Write{}, putObjects(f))
		if !errors.Is(err, service.ErrAdditions) {
			t.Errorf("a flag with %s: got %v, want that it is refused", name, err)
		}
	}
	before, err := put(plain("a"))
	mustSucceed(t, err)
	for name, segments := range map[string][]*guidon.Segment{
		"a new one": {addition("b")}, "in place of another": {addition("a")}, "among others": {plain("c"), addition("d")},
	} {
		if revision, err := put(segments...); !errors.Is(err, service.ErrAdditions) || revision != before {
			t.Errorf("%s: got revision %d, %v, want revision %d and that it is refused", name, revision, err, before)
		}
	}
	if got := snapshot(t, s, defaultNamespace).Segments(); len(got) != 1 || got[0].Additions() {
		t.Errorf("got %d segments, want only the one from before", len(got))
	}
	permit(t)
	if revision, err := put(addition("a"), addition("b")); err != nil || revision != before+1 {
		t.Errorf("permitted: got revision %d, %v", revision, err)
	}
	if got := snapshot(t, s, defaultNamespace).Segments(); len(got) != 2 || !got[0].Additions() || !got[1].Additions() {
		t.Errorf("got %d segments, want both with their additions", len(got))
	}
	for name, f := range flagsWithAdditions() {
		update(t, s, defaultNamespace, putObjects(f))
		var body string
		mustSucceed(t, db.QueryRowContext(t.Context(), "SELECT body FROM flags WHERE flag_key = 'f'").Scan(&body))
		if mark := fmt.Sprintf(`_FLAG_TYPE+%d"`, map[bool]int{false: 1, true: 3}[f.Linked()]); !strings.Contains(body, mark) {
			t.Errorf("a flag with %s is stored without the mark %s: %s", name, mark, body)
		}
		got := *snapshot(t, s, defaultNamespace).Flag("f")
		got.Created = guidon.Position{}
		wantEqual(t, "a flag with "+name, f, &got)
	}
	update(t, s, defaultNamespace, putObjects(linkedFlag("newer")))
	execute(t, db, `UPDATE flags SET body = REPLACE(body, 'FLAG_TYPE+3"', 'FLAG_TYPE+31"') WHERE flag_key = 'newer'`)
	_, err = s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error { _, err := tx.Flag(ctx, "newer"); return err })
	if !guidon.IsUnreadable(err) {
		t.Errorf("a flag with an unknown mark: got %v, want that it is unreadable", err)
	}
}

// flagsWithAdditions returns flags with the key f, each of which has one addition.
func flagsWithAdditions() map[string]*guidon.Flag {
	boolean := func(r *guidon.Rollout) *guidon.Flag {
		return &guidon.Flag{Key: "f", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{r}}
	}
	rollout := func(c guidon.Conditions) *guidon.Flag {
		return boolean(&guidon.Rollout{ID: "o", Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s"}}, Conditions: c.OrNil()})
	}
	rule := func(r guidon.Rule) *guidon.Flag {
		return &guidon.Flag{Key: "f", Type: guidon.VariantFlag, Rules: []*guidon.Rule{&r}}
	}
	group := &guidon.ConstraintGroup{MatchType: guidon.MatchAny, Constraints: []*guidon.Constraint{
		{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpEQ, Value: "v"},
	}}
	return map[string]*guidon.Flag{
		"a group":                    rollout(guidon.Conditions{Groups: []*guidon.ConstraintGroup{group}}),
		"an exception":               rollout(guidon.Conditions{ExceptSegmentKeys: []string{"t"}}),
		"everyone":                   boolean(&guidon.Rollout{ID: "o", Segment: &guidon.RolloutSegment{}, Conditions: &guidon.Conditions{Everyone: true}}),
		"a portion":                  rollout(guidon.Conditions{Portion: &guidon.Portion{Percentage: 33.333, Split: guidon.Split{Hash: guidon.FliptHash}}}),
		"an empty portion":           rollout(guidon.Conditions{Portion: &guidon.Portion{}}),
		"a start":                    boolean(&guidon.Rollout{ID: "o", Threshold: &guidon.RolloutThreshold{Percentage: 1, Start: 0.001}}),
		"a divided share":            boolean(&guidon.Rollout{ID: "o", Threshold: &guidon.RolloutThreshold{Percentage: 1, Split: &guidon.Split{By: "tenant"}}}),
		"a split":                    rule(guidon.Rule{ID: "r", SegmentKeys: []string{"s"}, Split: &guidon.Split{Seed: "s"}}),
		"a code default":             rule(guidon.Rule{ID: "r", SegmentKeys: []string{"s"}, CodeDefault: true}),
		"a requirement":              {Key: "f", Requires: []guidon.Requirement{{FlagKey: "g"}, {FlagKey: "h", Answers: []string{"x"}}}},
		"a requirement of a rule":    rule(guidon.Rule{ID: "r", Conditions: &guidon.Conditions{Requires: []guidon.Requirement{{FlagKey: "g"}}}}),
		"a requirement of a rollout": rollout(guidon.Conditions{Requires: []guidon.Requirement{{FlagKey: "g"}}}),
		"a group of a rule":          rule(guidon.Rule{ID: "r", Conditions: &guidon.Conditions{Groups: []*guidon.ConstraintGroup{group}}}),
	}
}
