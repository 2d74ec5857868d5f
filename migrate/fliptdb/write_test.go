package fliptdb_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// The history has the actor of the import, and starts with the imported objects.
func TestHistory(t *testing.T) {
	db := target(t)
	by := service.Write{By: service.Caller{Actor: change.Actor{ID: "cli:somebody"}}}
	if err := read(t, flipt(t, fliptdbtest.Generate(1))).Write(t.Context(), db, by, func(int) {}); err != nil {
		t.Fatal(err)
	}
	changes, err := db.Changes(t.Context(), change.Query{Namespace: "second", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 1+14+40 {
		t.Errorf("got %d change records, want one for each object", len(changes))
	}
	for _, c := range changes {
		if c.Actor.ID != "cli:somebody" || c.Revision != 1 || c.Action != change.ActionCreate {
			t.Errorf("got %+v, want a creation by cli:somebody at revision 1", c)
		}
	}
}

// changed returns the revision of each namespace.
func changed(t *testing.T, db *store.DB) map[string]guidon.Revision {
	t.Helper()
	namespaces, err := db.Namespaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	revisions := map[string]guidon.Revision{}
	for _, n := range namespaces {
		snapshot, _, err := db.Snapshot(t.Context(), n.Key, service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		revisions[n.Key] = snapshot.Revision()
	}
	return revisions
}

// A second run changes nothing, and completes a run that was interrupted. If the target has
// objects that are not from Flipt, nothing is written.
func TestTargetInUse(t *testing.T) {
	content := read(t, flipt(t, fliptdbtest.Generate(1)))
	db := target(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := content.Write(ctx, db, service.Write{}, func(int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled after the first namespace", err)
	}
	write(t, content, db)
	before := changed(t, db)
	write(t, content, db)
	after := changed(t, db)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the second run changed something:\n%s", diff)
	}

	for name, use := range map[string]func(*store.DB) error{
		`the flag mine`: func(db *store.DB) error {
			_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
				return tx.PutFlag(ctx, &guidon.Flag{Key: "mine"})
			})
			return err
		},
		`the segment segment-1`: func(db *store.DB) error {
			_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
				return tx.PutSegment(ctx, &guidon.Segment{Key: "segment-1"})
			})
			return err
		},
		`already exists`: func(db *store.DB) error {
			return db.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
				return tx.PutAuthentication(ctx, &service.Authentication{ID: "x", TokenHash: fliptdbtest.Hash(fliptdbtest.Token)})
			})
		},
	} {
		db := target(t)
		if err := use(db); err != nil {
			t.Fatal(err)
		}
		err := content.Write(t.Context(), db, service.Write{}, func(int) {})
		if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error with %q", err, name)
		}
		if all, err := db.Namespaces(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%s: got %d namespaces, %v, want only the initial one", name, len(all), err)
		}
	}
}
