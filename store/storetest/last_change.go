package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// A transaction finds the last change of an object from before it by kind and key, also
// if the object no longer exists.
func testLastChange(t *testing.T, s service.Store) {
	put := func(namespace, message string, fn func(ctx context.Context, tx service.Tx) error) {
		t.Helper()
		noted(t, s, namespace, "ann", message, change.Reason{}, fn)
	}
	put(defaultNamespace, "first", putObjects(newSegment("a"), newFlag("a"), newFlag("b"), newFlag("gone"), newFlag("again")))
	put(defaultNamespace, "second", inOneUpdate(putObjects(renamed("a", "renamed"), newFlag("b")), // the latter changes nothing
		deleteFlags("gone", "again")))
	put(defaultNamespace, "third", putObjects(newFlag("again")))
	createNamespace(t, s, "shop")
	putFlags(t, s, "shop", newFlag("a"))
	deleteNamespace(t, s, "shop")

	for _, test := range []struct {
		name      string
		namespace string
		kind      change.Kind
		key       string
		want      []string
	}{
		{"updated", defaultNamespace, change.KindFlag, "a", []string{"3.0 update flag a"}},
		{"unchanged since its creation", defaultNamespace, change.KindFlag, "b", []string{"2.2 create flag b"}},
		{"deleted", defaultNamespace, change.KindFlag, "gone", []string{"3.1 delete flag gone"}},
		{"created again", defaultNamespace, change.KindFlag, "again", []string{"4.0 create flag again"}},
		{"a segment with the key of a flag", defaultNamespace, change.KindSegment, "a", []string{"2.0 create segment a"}},
		{"another kind", defaultNamespace, change.KindSegment, "b", nil},
		{"never existed", defaultNamespace, change.KindFlag, "nope", nil},
		{"unstorable key", defaultNamespace, change.KindFlag, "\x00", nil},
		{"deleted with its namespace", "shop", change.KindFlag, "a", []string{"3.0 delete flag a"}},
		{"unknown namespace", "nope", change.KindFlag, "a", nil},
	} {
		var last *change.Record
		var err error
		update(t, s, test.namespace, func(ctx context.Context, tx service.Tx) error {
			last, err = tx.LastChange(ctx, test.kind, test.key)
			return err
		})
		var got []string
		if last != nil {
			got = brief([]*change.Record{last})
			if last.Actor.ID == "" && test.namespace == defaultNamespace || last.At.IsZero() || last.Before != nil || last.After != nil {
				t.Errorf("%s: got %+v, want an actor, a time and no bodies", test.name, last)
			}
		}
		wantEqual(t, test.name, test.want, got)
	}
	testLastChangeInside(t, s)
}

// testLastChangeInside reads the last change after a write in the same transaction, which
// does not count, and the revision before it.
func testLastChangeInside(t *testing.T, s service.Store) {
	t.Helper()
	var last *change.Record
	var before int64
	after := update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) (err error) {
		if err := tx.DeleteFlag(ctx, "a"); err != nil {
			return err
		}
		if before, err = tx.Revision(ctx); err != nil {
			return err
		}
		last, err = tx.LastChange(ctx, change.KindFlag, "a")
		return err
	})
	if diff := cmp.Diff([]string{"3.0 update flag a"}, brief([]*change.Record{last})); diff != "" || before != after-1 {
		t.Errorf("got the revision %d before %d (-want +got):\n%s", before, after, diff)
	}
	update(t, s, "nope", func(ctx context.Context, tx service.Tx) error {
		revision, err := tx.Revision(ctx)
		if revision != 0 {
			t.Errorf("unknown namespace: got revision %d, want 0", revision)
		}
		return err
	})
	_, err := s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		_, err := tx.LastChange(ctx, change.KindBinding, "a")
		return err
	})
	if err == nil {
		t.Error("bindings: got no error")
	}
}

// testLastChangeOneWins: of concurrent writers who change an object only if it has not
// changed, one does: each sees the changes that were committed before its own.
func testLastChangeOneWins(t *testing.T, s service.Store) {
	since := putFlags(t, s, defaultNamespace, newFlag("a"))
	winner := race(t, errTaken, func(ctx context.Context, i int) error {
		_, err := s.Update(ctx, defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			last, err := tx.LastChange(ctx, change.KindFlag, "a")
			if err != nil {
				return err
			}
			if last.Revision > since {
				return errTaken
			}
			return tx.PutFlag(ctx, renamed("a", fmt.Sprint("writer ", i)))
		})
		return err
	})
	wantEqual(t, "the name", fmt.Sprint("writer ", winner), snapshot(t, s, defaultNamespace).Flag("a").Name)
}
