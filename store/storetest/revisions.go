package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Every committed update takes exactly one revision and writes its records, also with
// 8 concurrent writers.
func testRevisionCountsWrites(t *testing.T, s service.Store) {
	const writers, writes = 8, 12
	seen := make([]atomic.Int32, writers*writes+2)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				revision, err := s.Update(t.Context(), defaultNamespace, service.Write{}, putObjects(newFlag(fmt.Sprintf("flag-%d-%d", w, i))))
				if err != nil {
					t.Error(err)
					return
				}
				seen[revision].Add(1)
			}
		})
	}
	wg.Wait()
	for revision := 2; revision < len(seen); revision++ {
		wantEqual(t, fmt.Sprintf("writers to which revision %d was reported", revision), 1, seen[revision].Load())
	}
	shot := snapshot(t, s, defaultNamespace)
	wantEqual(t, "revision", int64(writers*writes+1), shot.Revision().Number)
	wantEqual(t, "flags", writers*writes, len(shot.Flags()))
	for i, c := range allChanges(t, s, change.Query{Namespace: defaultNamespace}) {
		if c.Revision != int64(i+1) || c.Sequence != 0 {
			t.Fatalf("record %d is %d.%d", i, c.Revision, c.Sequence)
		}
	}
	wantReplay(t, s, defaultNamespace)
}

// An update that stores nothing uses no revision and reports the current one.
func testNothingStored(t *testing.T, s service.Store) {
	f := newFlag("a")
	want := putFlags(t, s, defaultNamespace, f)
	before := snapshot(t, s, defaultNamespace)
	for name, fn := range map[string]func(ctx context.Context, tx service.Tx) error{
		"nothing at all":      func(context.Context, service.Tx) error { return nil },
		"delete of nothing":   deleteFlags("nope"),
		"the same flag":       putObjects(newFlag("a")),
		"the same namespace":  editNamespace(func(*guidon.Namespace) {}),
		"there and back":      putObjects(renamed("a", "there"), newFlag("a")),
		"created and deleted": inOneUpdate(putObjects(newSegment("s")), deleteSegment("s")),
	} {
		wantEqual(t, name+": revision", want, update(t, s, defaultNamespace, fn))
		wantEqual(t, name+": revision", before.Revision(), snapshot(t, s, defaultNamespace).Revision())
	}
	wantEqual(t, "revision of the next write", want+1, putFlags(t, s, defaultNamespace, newFlag("b")))
}

func testRevisionOfDeletedNamespace(t *testing.T, s service.Store) {
	createNamespace(t, s, "shop")
	putFlags(t, s, "shop", newFlag("a"))
	first := snapshot(t, s, "shop").Revision()
	wantEqual(t, "delete: revision", 3, deleteNamespace(t, s, "shop"))
	wantEqual(t, "create again: revision", 4, createNamespace(t, s, "shop"))
	again := snapshot(t, s, "shop").Revision()
	if again.Number != 4 || again.Stamp == first.Stamp {
		t.Errorf("got revision %v after %v", again, first)
	}
	wantReplay(t, s, "shop")
}

func testIfMatch(t *testing.T, s service.Store) {
	current := putFlags(t, s, defaultNamespace, newFlag("a"))
	for _, expected := range []int64{current - 1, current + 1, 0, -1} {
		revision, err := s.Update(t.Context(), defaultNamespace, service.Write{IfMatch: &expected}, func(context.Context, service.Tx) error {
			t.Error("the function ran although the revision did not match")
			return nil
		})
		wantCode(t, "stale revision", err, guidon.FailedPrecondition)
		if want := fmt.Sprintf("namespace %q is at revision %d, not %d", defaultNamespace, current, expected); guidon.PublicMessage(err) != want {
			t.Errorf("got message %q, want %q", guidon.PublicMessage(err), want)
		}
		if revision != current {
			t.Errorf("got revision %d, want %d", revision, current)
		}
	}
	put := putObjects(newFlag("b"))
	revision, err := s.Update(t.Context(), defaultNamespace, service.Write{IfMatch: &current}, put)
	if err != nil {
		t.Errorf("matching revision: %v", err)
	}
	if revision != current+1 {
		t.Errorf("got revision %d, want %d", revision, current+1)
	}
	_, err = s.Update(t.Context(), defaultNamespace, service.Write{IfMatch: &current}, put)
	wantCode(t, "the same revision again", err, guidon.FailedPrecondition)

	// A namespace that does not exist is at revision 0.
	zero := int64(0)
	_, err = s.Update(t.Context(), "new", service.Write{IfMatch: &zero}, putObjects(&guidon.Namespace{Key: "new", Name: "New"}))
	if err != nil {
		t.Errorf("revision 0 of a new namespace: %v", err)
	}
}

// If many writers require the same revision, only one succeeds.
func testIfMatchOneWins(t *testing.T, s service.Store) {
	current := putFlags(t, s, defaultNamespace, newFlag("a"))
	race(t, guidon.FailedPrecondition, func(ctx context.Context, i int) error {
		_, err := s.Update(ctx, defaultNamespace, service.Write{IfMatch: &current}, putObjects(newFlag(fmt.Sprint("by ", i))))
		return err
	})
}
