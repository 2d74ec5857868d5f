package cache_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

var _ cache.SharedSource = (*store.DB)(nil)

func TestStrictConformance(t *testing.T) {
	storetest.RunAgain(t, func(t *testing.T) service.Store { return cache.NewShared(openSQLite(t), cache.Freshness{}) })
}

// Two instances use one database. Readers of one see what the other has acknowledged,
// and never see a revision go backwards.
func TestStrictTwoInstances(t *testing.T) {
	db := openSQLite(t)
	writer, reader := cache.NewShared(db, cache.Freshness{}), cache.NewShared(db, cache.Freshness{})
	var acknowledged atomic.Int64
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := int64(0)
			for !done.Load() {
				atLeast := max(last, acknowledged.Load())
				shot := get(t, reader, "default")
				last = shot.Revision().Number
				if last < atLeast {
					t.Errorf("read revision %d, want %d or later", last, atLeast)
				}
				if got := int64(len(shot.Flags())); got != last-1 {
					t.Errorf("revision %d has %d flags", last, got)
				}
			}
		})
	}
	for i := range 100 {
		acknowledged.Store(put(t, writer, fmt.Sprint("flag-", i)))
	}
	done.Store(true)
	wg.Wait()
}

// After another instance has changed one token, an instance loads that one and keeps
// the others.
func TestSharedLoadsChangedTokens(t *testing.T) {
	s := newSource(t)
	writer, reader := s.DB, cache.NewShared(s, cache.Freshness{})
	putToken(t, writer, "kept")
	putToken(t, writer, "deleted")
	held := tokens(t, reader)
	putToken(t, writer, "created")
	deleteToken(t, writer, "deleted")
	got := tokens(t, reader)
	if got.ByID("created") == nil || got.ByID("deleted") != nil || got.ByTokenHash("hash of deleted") != nil {
		t.Errorf("got %v", got.All())
	}
	if got.ByID("kept") != held.ByID("kept") {
		t.Error("the unchanged token was read again")
	}
	if from := s.heldTokens[len(s.heldTokens)-1]; from != held {
		t.Errorf("the load started from %v, want the cached set", from)
	}
	if loads := len(s.heldTokens); loads != 2 {
		t.Errorf("%d loads, want 2", loads)
	}
}
