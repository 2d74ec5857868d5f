package instance

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// newTestCleaner returns a cleaner for a new database. Its clock is two days ahead.
func newTestCleaner(t *testing.T) Cleaner {
	t.Helper()
	db := storetest.NewSQLite(t)
	return Cleaner{
		db: db, service: service.NewService(NewCache(&Storage{DB: db}, config.Cache{}), time.Now), actor: change.Actor{ID: "test"},
		graces: map[service.Method]time.Duration{service.MethodToken: time.Minute}, retention: 24 * time.Hour,
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

// Old records that a reader has not passed are kept.
func TestCleanChangesOfReader(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 2)
	if err := c.db.RegisterReader(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	describe(t, c.db, 3)
	result, err := c.All(t.Context())
	if want := (Cleaned{Changes: 2, Skipped: []string{}}); err != nil || !cmp.Equal(result, want) {
		t.Errorf("got %+v, %v, want %+v", result, err, want)
	}
	if err := c.db.RemoveReader(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	result, err = c.All(t.Context())
	if want := (Cleaned{Changes: 3, Skipped: []string{}}); err != nil || !cmp.Equal(result, want) {
		t.Errorf("after the reader was removed: got %+v, %v, want %+v", result, err, want)
	}
}

// Nothing is deleted if the retention is too short, or zero.
func TestCleanChangesFloor(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 3)
	c.retention = 24*time.Hour - 1
	var result Cleaned
	if _, err := c.changes(t.Context(), &result); err == nil || result.Changes != 0 || !strings.Contains(err.Error(), "invalid retention") {
		t.Errorf("below the minimum: got %+v, %v, want an error", result, err)
	}
	c.retention = 0
	if _, err := c.changes(t.Context(), &result); err != nil || result.Changes != 0 {
		t.Errorf("without retention: got %+v, %v, want nothing", result, err)
	}
	if n := len(changesOf(t, c.db)); n != 4 {
		t.Errorf("%d records are left, want all 4", n)
	}
}

// Only one process cleans up at a time. The lease of a killed process expires.
func TestCleanAlone(t *testing.T) {
	c := newTestCleaner(t)
	describe(t, c.db, 2)
	leases := []string{"cleanup of METHOD_OIDC", "cleanup of METHOD_TOKEN", "cleanup of changes"}
	for _, name := range leases {
		if held, err := c.db.AcquireLease(t.Context(), name, "another", time.Hour); err != nil || !held {
			t.Fatalf("got %t, %v", held, err)
		}
	}
	result, err := c.All(t.Context())
	if want := (Cleaned{Skipped: []string{"tokens", "changes"}}); err != nil || !cmp.Equal(result, want) {
		t.Errorf("during another cleanup: got %+v, %v, want %+v", result, err, want)
	}
	for _, name := range leases {
		if renewed, err := c.db.RenewLease(t.Context(), name, "another", 0); err != nil || !renewed {
			t.Fatalf("got %t, %v", renewed, err)
		}
	}
	if result, err := c.All(t.Context()); err != nil || result.Changes != 2 {
		t.Errorf("after its lease: got %+v, %v, want 2 records", result, err)
	}
}

// The loops of several methods run at the same time, and each does its own work.
func TestCleanTokensOfSeveralMethods(t *testing.T) {
	c := newTestCleaner(t)
	methods := service.CleanedMethods()
	for _, method := range methods {
		putExpired(t, c.db, method)
	}
	logger := slog.New(slog.DiscardHandler)
	now, rest := c.now, methods[1:]
	c.now = func() time.Time { // called while the first loop runs
		for _, method := range rest {
			rest = nil
			if err := c.LoopTokens(t.Context(), method, logger); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		return now()
	}
	if err := c.LoopTokens(t.Context(), methods[0], logger); err != nil {
		t.Fatal(err)
	}
	if got := methodsLeft(t, c.db); len(got) > 0 {
		t.Errorf("tokens of %v are left, want none", got)
	}
}

// The lease is always released, and losing it ends the cleanup.
func TestCleanLease(t *testing.T) {
	c := newTestCleaner(t)
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.withLease(ctx, "job", func(context.Context) error {
		cancel()
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	_, err = c.withLease(t.Context(), "job", func(ctx context.Context) error {
		if held, err := c.withLease(ctx, "job", nil); held || err != nil {
			t.Errorf("second holder: got %t, %v", held, err)
		}
		return nil
	})
	if err != nil {
		t.Errorf("a lease that was released: got %v", err)
	}
}

// TestCleanerOfMethods: expired static tokens are deleted. Authentications of other
// methods, which only a Flipt v1 that was taken over has, stay.
func TestCleanerOfMethods(t *testing.T) {
	c := newTestCleaner(t)
	for method := service.MethodToken; method <= service.MethodCloud; method++ {
		putExpired(t, c.db, method)
	}
	if result, err := c.All(t.Context()); err != nil || result.Tokens != 4 {
		t.Errorf("deleted %d, %v; want 4", result.Tokens, err)
	}
	want := []service.Method{service.MethodJWT, service.MethodCloud}
	if diff := cmp.Diff(want, methodsLeft(t, c.db)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// putExpired stores an authentication of the method that expired an hour ago.
func putExpired(t *testing.T, db *store.DB, method service.Method) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		id := service.NewID()
		return tx.PutAuthentication(ctx, &service.Authentication{ID: id, Method: method, TokenHash: service.HashToken(id), ExpiresAt: old, CreatedAt: old, UpdatedAt: old})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// methodsLeft returns the methods of all authentications.
func methodsLeft(t *testing.T, db *store.DB) (methods []service.Method) {
	t.Helper()
	set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range set.All() {
		methods = append(methods, a.Method)
	}
	return methods
}
