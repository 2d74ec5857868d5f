package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func write(t testing.TB, db *store.DB, namespace string, fn func(ctx context.Context, tx service.Tx) error) {
	t.Helper()
	if _, err := db.Update(t.Context(), namespace, service.Write{}, fn); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, db *store.DB, held *guidon.Snapshot) *guidon.Snapshot {
	t.Helper()
	shot, err := db.Load(t.Context(), "default", held)
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

func wantSame(t *testing.T, what string, want, got *guidon.Snapshot) {
	t.Helper()
	if got.Revision() != want.Revision() {
		t.Errorf("%s: got revision %v, want %v", what, got.Revision(), want.Revision())
	}
	if diff := cmp.Diff(want.Namespace(), got.Namespace()); diff != "" {
		t.Errorf("%s: namespace:\n%s", what, diff)
	}
	if diff := cmp.Diff(want.Flags(), got.Flags()); diff != "" && len(want.Flags())+len(got.Flags()) > 0 {
		t.Errorf("%s: flags (-full +incremental):\n%s", what, diff)
	}
	if diff := cmp.Diff(want.Segments(), got.Segments()); diff != "" && len(want.Segments())+len(got.Segments()) > 0 {
		t.Errorf("%s: segments (-full +incremental):\n%s", what, diff)
	}
}

func TestLoadReturnsHeldWhenCurrent(t *testing.T) {
	db := storetest.NewSQLite(t)
	first := load(t, db, nil)
	if again := load(t, db, first); again != first {
		t.Error("got another snapshot of the same revision")
	}
}

// A load from any earlier snapshot returns what a full load returns.
func TestLoadIncremental(t *testing.T) {
	db := storetest.NewSQLite(t)
	put := func(ctx context.Context, tx service.Tx, key string, description string) error {
		return errors.Join(
			tx.PutFlag(ctx, &guidon.Flag{Key: key, Description: description}),
			tx.PutSegment(ctx, &guidon.Segment{Key: key, Description: description}))
	}
	held := []*guidon.Snapshot{load(t, db, nil)}
	for i, step := range []func(ctx context.Context, tx service.Tx) error{
		func(ctx context.Context, tx service.Tx) error {
			return errors.Join(put(ctx, tx, "a", ""), put(ctx, tx, "b", ""), put(ctx, tx, "c", ""))
		},
		func(ctx context.Context, tx service.Tx) error { return put(ctx, tx, "a", "changed") },
		func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.DeleteFlag(ctx, "b"), tx.DeleteSegment(ctx, "a"))
		},
		func(ctx context.Context, tx service.Tx) error { return put(ctx, tx, "b", "again") },
		func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.DeleteFlag(ctx, "a"), put(ctx, tx, "a", "anew"), tx.DeleteSegment(ctx, "c"))
		},
		func(ctx context.Context, tx service.Tx) error {
			n, err := tx.Namespace(ctx)
			if err != nil {
				return err
			}
			n.Name = "renamed"
			return tx.PutNamespace(ctx, n)
		},
		func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) },
		func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.PutNamespace(ctx, &guidon.Namespace{Key: "default", Name: "again"}), put(ctx, tx, "c", "x"))
		},
	} {
		write(t, db, "default", step)
		full, _, err := db.Snapshot(t.Context(), "default", service.Demand{})
		if errors.Is(err, guidon.NotFound) {
			if _, err := db.Load(t.Context(), "default", held[0]); !errors.Is(err, guidon.NotFound) {
				t.Errorf("step %d: got %v, want NotFound", i, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range held {
			wantSame(t, fmt.Sprintf("step %d from revision %d", i, from.Revision().Number), full, load(t, db, from))
		}
		held = append(held, full)
	}
}

// A load from an earlier snapshot reads only the changed objects and shares the others.
func TestLoadSharesUnchangedObjects(t *testing.T) {
	db := storetest.NewSQLite(t)
	write(t, db, "default", func(ctx context.Context, tx service.Tx) error {
		return errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: "a"}), tx.PutFlag(ctx, &guidon.Flag{Key: "b"}))
	})
	held := load(t, db, nil)
	write(t, db, "default", func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "b", Enabled: true})
	})
	got := load(t, db, held)
	if got.Flag("a") != held.Flag("a") {
		t.Error("the unchanged flag was read again")
	}
	if got.Flag("b") == held.Flag("b") || !got.Flag("b").Enabled {
		t.Error("the changed flag was not read")
	}
}

// If a backup is restored, a held snapshot no longer belongs to the history of the
// database, whatever its revision number.
func TestLoadAfterRestoredBackup(t *testing.T) {
	dir := t.TempDir()
	live, backup := filepath.Join(dir, "live.db"), filepath.Join(dir, "backup.db")
	source := storetest.NewSQLite(t)
	put := func(db *store.DB, key, description string) {
		write(t, db, "default", func(ctx context.Context, tx service.Tx) error {
			return tx.PutFlag(ctx, &guidon.Flag{Key: key, Description: description})
		})
	}
	put(source, "a", "kept")
	for _, path := range []string{live, backup} {
		if _, err := source.SQL().ExecContext(t.Context(), "VACUUM INTO ?", path); err != nil {
			t.Fatal(err)
		}
	}
	first := openFile(t, live)
	shared := load(t, first, nil)
	put(first, "a", "lost")
	put(first, "b", "lost")
	lost := load(t, first, nil)

	for writes, want := range []int64{2, 3, 4, 5} {
		path := filepath.Join(dir, fmt.Sprint("restored-", writes, ".db"))
		content, err := os.ReadFile(backup)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		restored := openFile(t, path)
		for i := range writes {
			put(restored, "c", fmt.Sprint("new ", i))
		}
		full := load(t, restored, nil)
		if full.Revision().Number != want {
			t.Fatalf("got revision %d, want %d", full.Revision().Number, want)
		}
		wantSame(t, fmt.Sprintf("%d writes after the restore, from the lost state", writes), full, load(t, restored, lost))
		wantSame(t, fmt.Sprintf("%d writes after the restore, from the shared state", writes), full, load(t, restored, shared))
	}
}
