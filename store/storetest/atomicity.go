package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// changeEverything makes a change of every kind.
func changeEverything(ctx context.Context, tx service.Tx) error {
	return inOneUpdate(editNamespace(func(n *guidon.Namespace) { n.Name = "changed" }),
		putObjects(renamed("a", "changed"), newFlag("new")), deleteFlags("b"), putObjects(newSegment("s")))(ctx, tx)
}

// wantUntouched runs attempt, which fails, and checks that it stores nothing.
func wantUntouched(t *testing.T, s service.Store, attempt func()) {
	t.Helper()
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"))
	before := snapshot(t, s, defaultNamespace)
	records := brief(allChanges(t, s, change.Query{Namespace: defaultNamespace}))
	attempt()
	after := snapshot(t, s, defaultNamespace)
	wantEqual(t, "revision", before.Revision(), after.Revision())
	wantEqual(t, "flags", before.Flags(), after.Flags())
	wantEqual(t, "namespace", before.Namespace(), after.Namespace())
	wantEqual(t, "segments", 0, len(after.Segments()))
	wantEqual(t, "records", records, brief(allChanges(t, s, change.Query{Namespace: defaultNamespace})))
	// The store must still work.
	wantEqual(t, "revision of the next write", before.Revision().Number+1, putFlags(t, s, defaultNamespace, newFlag("later")))
}

func testAtomicOnError(t *testing.T, s service.Store) {
	wantUntouched(t, s, func() {
		revision, err := s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if err := changeEverything(ctx, tx); err != nil {
				t.Error(err)
			}
			return errStop
		})
		if !errors.Is(err, errStop) {
			t.Errorf("got error %v, want the error of the function", err)
		}
		if revision != 2 {
			t.Errorf("got revision %d, want the current one, 2", revision)
		}
	})
}

func testAtomicOnPanic(t *testing.T, s service.Store) {
	wantUntouched(t, s, func() {
		defer func() {
			if recover() == nil {
				t.Error("Update recovered the panic")
			}
		}()
		_, _ = s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if err := changeEverything(ctx, tx); err != nil {
				t.Error(err)
			}
			panic("in the middle")
		})
	})
}

// A transaction that is used after its end, or after its namespace was deleted,
// changes nothing.
func testDeadTransaction(t *testing.T, s service.Store) {
	var leaked service.Tx
	wantUntouched(t, s, func() {
		_, err := s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			leaked = tx
			if err := tx.DeleteNamespace(ctx); err != nil {
				return err
			}
			return tx.PutFlag(ctx, newFlag("late"))
		})
		if err == nil {
			t.Error("put after DeleteNamespace succeeded")
		}
		if err := leaked.PutFlag(t.Context(), newFlag("later still")); err == nil {
			t.Error("put after the transaction's end succeeded")
		}
	})
}

func testCanceled(t *testing.T, s service.Store) {
	wantUntouched(t, s, func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Update(ctx, defaultNamespace, service.Write{}, changeEverything)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func testCanceledInside(t *testing.T, s service.Store) {
	wantUntouched(t, s, func() {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Update(ctx, defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			err := changeEverything(ctx, tx)
			cancel()
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}
