package service_test

import (
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestUndoAfterRetention: a retention keeps the newest record of each object, so that a
// revision may have lost some of its records and kept others. It is not undone in part.
func TestUndoAfterRetention(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now)
	both := func(name string) {
		t.Helper()
		flag := ", name: " + name + ", type: BOOLEAN_FLAG_TYPE}"
		mustImport(t, s, "namespace: {key: default}\nflags: [{key: a"+flag+", {key: b"+flag+"]\n", service.ImportUpdate)
	}
	both("one")
	both("two")
	last, err := s.LatestChange(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	undone := last.Revision
	if _, _, err := s.UpdateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "b", Name: "three"}); err != nil {
		t.Fatal(err)
	}
	plan := func(flags ...string) (*service.Plan, error) {
		p, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, service.PlanRequest{
			Namespace: "default", Mode: service.ImportUpdate, Flags: flags, Undo: &service.Undo{First: undone, Last: undone},
		}, nil)
		return p, err
	}
	if p, err := plan(); err != nil || len(p.Conflicts) != 1 {
		t.Fatalf("with all records: got %+v, %v", p, err)
	}
	if _, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 1000); err != nil {
		t.Fatal(err)
	}
	if p, err := plan(); guidon.CodeOf(err) != guidon.NotFound {
		t.Errorf("a revision that lost a record: got %+v, %v", p, err)
	}
	if p, err := plan("a"); err != nil || len(p.Changes) != 1 {
		t.Errorf("a flag whose record was kept: got %+v, %v", p, err)
	}
}
