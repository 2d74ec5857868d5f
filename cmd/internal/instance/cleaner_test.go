package instance

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// newTestCleaner returns a cleaner for a new database. Its clock is two days ahead.
func newTestCleaner(t *testing.T) Cleaner {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	return Cleaner{
		db: db, service: service.NewService(NewCache(&Storage{DB: db}, config.Cache{}), time.Now), actor: change.Actor{ID: "test"},
		grace: time.Minute, retention: 24 * time.Hour,
		now: func() time.Time { return time.Now().Add(48 * time.Hour) },
	}
}

// describe changes the description of the default namespace times times.
func describe(t *testing.T, db *store.DB, times int) {
	t.Helper()
	for i := range times {
		_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			n, err := tx.Namespace(ctx)
			if err != nil {
				return err
			}
			n.Description = strings.Repeat("x", i+1)
			return tx.PutNamespace(ctx, n)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func changesOf(t *testing.T, db *store.DB) []*change.Record {
	t.Helper()
	changes, err := db.Changes(t.Context(), change.Query{Namespace: "default", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// Old records are deleted, except the newest of each object.
func TestCleanChanges(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 5)
	before := changesOf(t, c.db)
	result, err := c.All(t.Context())
	if want := (Cleaned{Changes: 5, Skipped: []string{}}); err != nil || !cmp.Equal(result, want) {
		t.Errorf("got %+v, %v, want %+v", result, err, want)
	}
	if diff := cmp.Diff(before[:1], changesOf(t, c.db)); diff != "" {
		t.Errorf("records left (-want +got):\n%s", diff)
	}
	if result, err := c.All(t.Context()); err != nil || result.Changes != 0 {
		t.Errorf("second time: got %+v, %v, want nothing to do", result, err)
	}
}

// Nothing is deleted if the retention is too short, or zero.
func TestCleanChangesFloor(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 3)
	c.retention = 24*time.Hour - 1
	if n, _, err := c.changes(t.Context()); err == nil || n != 0 || !strings.Contains(err.Error(), "invalid retention") {
		t.Errorf("below the minimum: got %d, %v, want an error", n, err)
	}
	c.retention = 0
	if n, _, err := c.changes(t.Context()); err != nil || n != 0 {
		t.Errorf("without retention: got %d, %v, want nothing", n, err)
	}
	if n := len(changesOf(t, c.db)); n != 4 {
		t.Errorf("%d records are left, want all 4", n)
	}
}

// Only one process cleans up at a time. The lease of a killed process expires.
func TestCleanAlone(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 2)
	for _, name := range []string{"cleanup of tokens", "cleanup of changes"} {
		if held, err := c.db.AcquireLease(t.Context(), name, "another", time.Hour); err != nil || !held {
			t.Fatalf("got %t, %v", held, err)
		}
	}
	result, err := c.All(t.Context())
	if want := (Cleaned{Skipped: []string{"tokens", "changes"}}); err != nil || !cmp.Equal(result, want) {
		t.Errorf("during another cleanup: got %+v, %v, want %+v", result, err, want)
	}
	for _, name := range []string{"cleanup of tokens", "cleanup of changes"} {
		if renewed, err := c.db.RenewLease(t.Context(), name, "another", 0); err != nil || !renewed {
			t.Fatalf("got %t, %v", renewed, err)
		}
	}
	if result, err := c.All(t.Context()); err != nil || result.Changes != 2 {
		t.Errorf("after its lease: got %+v, %v, want 2 records", result, err)
	}
}

// The lease is always released, and losing it ends the cleanup.
func TestCleanLease(t *testing.T) {
	c := newTestCleaner(t)
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	err := c.withLease(ctx, "job", func(context.Context, func(context.Context) error) error {
		cancel()
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	err = c.withLease(t.Context(), "job", func(ctx context.Context, renew func(context.Context) error) error {
		if err := c.withLease(ctx, "job", nil); !errors.Is(err, errElsewhere) {
			t.Errorf("second holder: got %v, want errElsewhere", err)
		}
		if err := renew(ctx); err != nil {
			t.Errorf("renewal: %v", err)
		}
		if _, err := c.db.SQL().ExecContext(ctx, "UPDATE leases SET holder = 'another'"); err != nil {
			t.Fatal(err)
		}
		return renew(ctx)
	})
	if !errors.Is(err, errElsewhere) {
		t.Errorf("renewal of a lease that was lost: got %v, want errElsewhere", err)
	}
}
