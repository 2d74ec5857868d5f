package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	put(defaultNamespace, "first", func(ctx context.Context, tx service.Tx) error {
		return errors.Join(tx.PutSegment(ctx, newSegment("a")), tx.PutFlag(ctx, newFlag("a")), tx.PutFlag(ctx, newFlag("b")),
			tx.PutFlag(ctx, newFlag("gone")), tx.PutFlag(ctx, newFlag("again")))
	})
	put(defaultNamespace, "second", func(ctx context.Context, tx service.Tx) error {
		a := newFlag("a")
		a.Name = "renamed"
		return errors.Join(tx.PutFlag(ctx, a), tx.PutFlag(ctx, newFlag("b")), // the latter changes nothing
			tx.DeleteFlag(ctx, "gone"), tx.DeleteFlag(ctx, "again"))
	})
	put(defaultNamespace, "third", func(ctx context.Context, tx service.Tx) error { return tx.PutFlag(ctx, newFlag("again")) })
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
	errChanged := errors.New("changed")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
				last, err := tx.LastChange(ctx, change.KindFlag, "a")
				if err != nil {
					return err
				}
				if last.Revision > since {
					return errChanged
				}
				f := newFlag("a")
				f.Name = fmt.Sprint("writer ", i)
				return tx.PutFlag(ctx, f)
			})
		})
	}
	wg.Wait()
	winners := 0
	for i, err := range errs {
		switch {
		case err == nil:
			winners++
			wantEqual(t, "the name", fmt.Sprint("writer ", i), snapshot(t, s, defaultNamespace).Flag("a").Name)
		case !errors.Is(err, errChanged):
			t.Errorf("writer %d: %v", i, err)
		}
	}
	if winners != 1 {
		t.Errorf("%d writers changed the flag, want 1", winners)
	}
}
