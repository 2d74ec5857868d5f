package migrate

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/store"
)

var mandatory = []string{"tables", "seed", "leases", "readers", "sign_in", "change_notes", "past_states", "horizons", "evaluations", "change_events", "webhooks", "favorites"}

func newFile(t *testing.T) *sql.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db.SQL()
}

// existing returns a database that a release before the step additions has created.
func existing(t *testing.T) *sql.DB {
	t.Helper()
	db := newFile(t)
	if _, err := Up(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id = ?", additionsStep); err != nil {
		t.Fatal(err)
	}
	return db
}

func checkApplied(t *testing.T, what string, got []Step, err error, want ...string) {
	t.Helper()
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff(want, names); err != nil || diff != "" {
		t.Errorf("%s: got %v, applied (-want +got):\n%s", what, err, diff)
	}
}

// checkStatus checks whether the step additions, and all others, are applied.
func checkStatus(t *testing.T, db *sql.DB, additions bool) {
	t.Helper()
	all, err := Status(t.Context(), db, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Optional != (s.Name == "additions") || s.AppliedAt.IsZero() == (additions || !s.Optional) {
			t.Errorf("status: got %+v, want additions applied: %t", s, additions)
		}
	}
	if err := Check(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	if err := Wait(t.Context(), db, "sqlite"); err != nil {
		t.Error(err)
	}
}

// An existing database gets the step only by Additions, and works without it.
func TestAdditions(t *testing.T) {
	db := existing(t)
	applied, err := Up(t.Context(), db, "sqlite")
	checkApplied(t, "up", applied, err)
	checkStatus(t, db, false)
	applied, err = Additions(t.Context(), db, "sqlite")
	checkApplied(t, "additions", applied, err, "additions")
	checkStatus(t, db, true)
	applied, err = Additions(t.Context(), db, "sqlite")
	checkApplied(t, "additions again", applied, err)
}

// A creation that is interrupted at any step is completed, with the step additions.
func TestAdditionsInterrupted(t *testing.T) {
	for n, at := range append([]string{"additions"}, mandatory...) {
		db := newFile(t)
		ctx, interrupt := context.WithCancel(t.Context())
		applied, err := UpEach(ctx, db, "sqlite", func(next Step, _ int) {
			if next.Name == at {
				interrupt()
			}
		})
		if !errors.Is(err, context.Canceled) || len(applied) != n {
			t.Errorf("at %s: got %+v, %v, want %d steps", at, applied, err, n)
		}
		if _, err := Up(t.Context(), db, "sqlite"); err != nil {
			t.Errorf("at %s: %v", at, err)
		}
		checkStatus(t, db, true)
	}
}

// A creation that a release before the step has begun is completed without it.
func TestAdditionsAfterEarlierRelease(t *testing.T) {
	db := newFile(t)
	ctx, interrupt := context.WithCancel(t.Context())
	if _, err := UpEach(ctx, db, "sqlite", func(next Step, _ int) {
		if next.Name == "leases" {
			interrupt()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id = ?", additionsStep); err != nil {
		t.Fatal(err)
	}
	applied, err := Up(t.Context(), db, "sqlite")
	checkApplied(t, "up", applied, err, mandatory[2:]...)
	checkStatus(t, db, false)
}

// A later step does not depend on the step additions, which may be applied after it.
func TestAdditionsAndLaterSteps(t *testing.T) {
	without, with, late := existing(t), newFile(t), existing(t)
	if _, err := Up(t.Context(), with, "sqlite"); err != nil {
		t.Fatal(err)
	}
	later := goSteps[additionsStep]
	later.name = "later"
	const version = 1000
	goSteps[version] = later
	t.Cleanup(func() { delete(goSteps, version) })

	applied, err := Additions(t.Context(), late, "sqlite")
	checkApplied(t, "both are pending", applied, err, "additions", "later")
	for db, additions := range map[*sql.DB]bool{without: false, with: true} {
		if err := Check(t.Context(), db, "sqlite"); err == nil {
			t.Errorf("additions applied: %t: the later step is not required", additions)
		}
		applied, err := Up(t.Context(), db, "sqlite")
		checkApplied(t, "up", applied, err, "later")
		checkStatus(t, db, additions)
	}
	applied, err = Additions(t.Context(), without, "sqlite")
	checkApplied(t, "after the later step", applied, err, "additions")
	checkStatus(t, without, true)

	created := newFile(t)
	applied, err = Up(t.Context(), created, "sqlite")
	checkApplied(t, "created with the later step", applied, err, append(append([]string{"additions"}, mandatory...), "later")...)
}
