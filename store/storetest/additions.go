package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// RunAdditions checks that the store refuses additions until its database permits them. It
// withdraws that first. permit is what another process does to the database.
func RunAdditions(t *testing.T, s service.Store, db *sql.DB, permit func(t *testing.T)) {
	if _, err := db.ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id = 9"); err != nil {
		t.Fatal(err)
	}
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
	before, err := put(plain("a"))
	if err != nil {
		t.Fatal(err)
	}
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
}
