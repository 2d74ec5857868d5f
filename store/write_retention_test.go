package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func wantUnavailable(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, guidon.Unavailable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: got %v, want Unavailable without a password", what, err)
	}
}

func putFlag(key, description string) func(ctx context.Context, tx service.Tx) error {
	return func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: key, Description: description})
	}
}

func deleteFlag(key string) func(ctx context.Context, tx service.Tx) error {
	return func(ctx context.Context, tx service.Tx) error { return tx.DeleteFlag(ctx, key) }
}

func changeLines(t *testing.T, db *store.DB, query change.Query) []string {
	t.Helper()
	query.Limit = 1000
	changes, err := db.Changes(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%d.%d %s %s", c.Revision, c.Sequence, c.Action, c.Key))
	}
	return all
}

func TestDeleteChangesKeepsTheNewestOfEach(t *testing.T) {
	db := storetest.NewSQLite(t)
	for _, step := range []func(ctx context.Context, tx service.Tx) error{
		putFlag("a", "1"), putFlag("b", "1"), putFlag("a", "2"), deleteFlag("b"), // 2 to 5
		func(ctx context.Context, tx service.Tx) error { // 6: two records of one object
			return errors.Join(tx.DeleteFlag(ctx, "a"), putFlag("a", "3")(ctx, tx))
		},
		func(ctx context.Context, tx service.Tx) error { // 7: a segment with the key of a flag
			return tx.PutSegment(ctx, &guidon.Segment{Key: "a"})
		},
	} {
		write(t, db, "default", step)
	}
	for range 2 {
		err := db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			return tx.PutAuthentication(ctx, &service.Authentication{ID: "t", TokenHash: "h", CreatedAt: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := db.DeleteChanges(t.Context(), time.Now().Add(-time.Hour), 100); n != 0 || err != nil {
		t.Errorf("no record is that old: got %d, %v", n, err)
	}
	if n, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 3); n != 3 || err != nil {
		t.Errorf("at most 3: got %d, %v", n, err)
	}
	if _, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	want := []string{"7.0 create a", "6.1 create a", "5.0 delete b", "1.0 create default"}
	if diff := cmp.Diff(want, changeLines(t, db, change.Query{Namespace: "default"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := changeLines(t, db, change.Query{Kind: change.KindAuthentication}); len(got) != 1 || !strings.HasSuffix(got[0], " t") {
		t.Errorf("got %q, want the newest record of the token", got)
	}
	if n, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 100); n != 0 || err != nil {
		t.Errorf("nothing is left to delete: got %d, %v", n, err)
	}
}

// The deletion takes more than one transaction.
func TestDeleteChangesInBatches(t *testing.T) {
	db := storetest.NewSQLite(t)
	const flags = 450
	for round := range 2 {
		write(t, db, "default", func(ctx context.Context, tx service.Tx) error {
			for i := range flags {
				if err := putFlag(fmt.Sprint("f", i), fmt.Sprint(round))(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if n, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 10*flags); n != flags || err != nil {
		t.Errorf("got %d, %v, want %d", n, err, flags)
	}
}

// A load from a held snapshot returns the current one, whatever has been deleted from
// the log since.
func TestLoadAfterDeleteChanges(t *testing.T) {
	steps := []func(ctx context.Context, tx service.Tx) error{
		putFlag("a", "1"), putFlag("b", "1"), deleteFlag("a"), putFlag("a", "2"), putFlag("c", "1"), deleteFlag("b"), putFlag("c", "2"), deleteFlag("a"),
	}
	for cleaned := range steps {
		db := storetest.NewSQLite(t)
		held := []*guidon.Snapshot{load(t, db, nil)}
		for i, step := range steps {
			write(t, db, "default", step)
			held = append(held, load(t, db, nil))
			if i == cleaned {
				if _, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
					t.Fatal(err)
				}
			}
		}
		full := load(t, db, nil)
		for _, from := range held {
			wantSame(t, fmt.Sprintf("cleaned after step %d, from revision %d", cleaned, from.Revision().Number), full, load(t, db, from))
		}
	}
}

func TestHeads(t *testing.T) {
	db := storetest.NewSQLite(t)
	create := func(key string) {
		write(t, db, key, func(ctx context.Context, tx service.Tx) error {
			return tx.PutNamespace(ctx, &guidon.Namespace{Key: key})
		})
	}
	create("shop")
	create("gone")
	write(t, db, "gone", func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
	shop, _, err := db.Snapshot(t.Context(), "shop", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]guidon.Revision{"default": load(t, db, nil).Revision(), "shop": shop.Revision(), service.AuthenticationsKey: set.Revision()}
	keys := []string{"default", "shop", "gone", "never", service.AuthenticationsKey, "NUL\x00", "\xff", strings.Repeat("x", 300)}
	for i := range 1200 {
		keys = append(keys, fmt.Sprint("unknown-", i))
	}
	got, err := db.Heads(t.Context(), keys)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := db.Heads(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no keys: got %v, %v", got, err)
	}
}

func TestLoadAuthentications(t *testing.T) {
	db := storetest.NewSQLite(t)
	held, err := db.LoadAuthentications(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := db.LoadAuthentications(t.Context(), held); err != nil || again != held {
		t.Errorf("got %v, %v, want the held set", again, err)
	}
	err = db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.PutAuthentication(ctx, &service.Authentication{ID: "t", TokenHash: "h"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if next, err := db.LoadAuthentications(t.Context(), held); err != nil || next.ByID("t") == nil {
		t.Errorf("got %v, %v, want the new one", next, err)
	}
}
