package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// history is a fake database that remembers every state of each key. The zero revision
// stands for a namespace that does not exist, or for no authentications.
type history struct {
	*fake
	random *rand.Rand // guarded by past.mu
	linear bool       // no deletions and no backups
	past   struct {
		sync.Mutex
		states   map[string][]guidon.Revision
		times    map[string][]time.Time // when each became current
		owned    map[string]int         // the last state whose write through this instance is known to have ended
		restores map[string][]int       // the indexes of states made by a restored backup
		stamp    int64
	}
}

func newHistory(seed uint64, keys ...string) *history {
	h := &history{fake: newFake(), random: rand.New(rand.NewPCG(seed, 1))}
	h.past.states, h.past.restores = map[string][]guidon.Revision{}, map[string][]int{}
	h.past.times, h.past.owned = map[string][]time.Time{}, map[string]int{}
	for _, key := range keys {
		h.past.states[key], h.past.times[key] = []guidon.Revision{h.states[key]}, []time.Time{time.Now()}
	}
	h.headsHook = func(ctx context.Context, _ []string) error { return h.pause(ctx) }
	h.loadHook = func(ctx context.Context, _ string) error { return h.pause(ctx) }
	h.afterHook = func() { _ = h.pause(context.Background()) }
	return h
}

func (h *history) draw(n int) int {
	h.past.Lock()
	defer h.past.Unlock()
	return h.random.IntN(n)
}

// errBroken is the error of some queries. It does not say that the database is
// unavailable, since most queries would then not be run.
var errBroken = errors.New("broken")

// pause is the time to the database or back, by the clock of the bubble.
func (h *history) pause(ctx context.Context) error {
	if h.draw(100) == 0 {
		return errBroken
	}
	select {
	case <-time.After(time.Duration(h.draw(40)) * time.Microsecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write commits a change, a deletion, a creation or a restored backup. It returns the
// index of the new state among those of the key.
func (h *history) write(key string) int {
	what := h.draw(20)
	h.past.Lock()
	defer h.past.Unlock()
	states := h.past.states[key]
	last := states[len(states)-1]
	h.past.stamp++
	next := guidon.Revision{Number: int64(len(states)) + 1, Stamp: h.past.stamp}
	switch {
	case h.linear:
	case what == 0 && key != authentications:
		next = guidon.Revision{}
	case what == 1: // a restored backup
		next = states[h.random.IntN(len(states))]
		h.past.restores[key] = append(h.past.restores[key], len(states))
	case what == 2:
		next.Number = last.Number // a restored backup that was written to
		h.past.restores[key] = append(h.past.restores[key], len(states))
	}
	h.past.states[key], h.past.times[key] = append(states, next), append(h.past.times[key], time.Now())
	if next == (guidon.Revision{}) {
		h.drop(key)
	} else {
		h.set(key, next.Number, next.Stamp)
	}
	return len(states)
}

func (h *history) now(key string) int {
	h.past.Lock()
	defer h.past.Unlock()
	return len(h.past.states[key]) - 1
}

// stateAt returns the state that was current just after the instant.
func (h *history) stateAt(key string, at time.Time) int {
	h.past.Lock()
	defer h.past.Unlock()
	i := 0
	for i+1 < len(h.past.times[key]) && !h.past.times[key][i+1].After(at) {
		i++
	}
	return i
}

// own records that the write through this instance has ended that made the state.
// ownWrite returns the last of these states.
func (h *history) own(key string, state int) {
	h.past.Lock()
	defer h.past.Unlock()
	h.past.owned[key] = max(h.past.owned[key], state)
}

func (h *history) ownWrite(key string) int {
	h.past.Lock()
	defer h.past.Unlock()
	return h.past.owned[key]
}

// UpdateMirrored commits something and advances the mirror, with pauses before and
// after.
func (h *history) UpdateMirrored(_ context.Context, key string, _ service.Write, mirror service.Mirror[guidon.SnapshotDelta], _ func(context.Context, service.Tx) error) (int64, error) {
	held, known := mirror.Held()
	_ = h.pause(context.Background())
	state := h.write(key)
	_ = h.pause(context.Background())
	if known && h.draw(4) > 0 { // otherwise the cache must load the new state
		mirror.Advance(held, guidon.SnapshotDelta{Revision: h.state(key, state), Namespace: &guidon.Namespace{Key: key}})
	}
	_ = h.pause(context.Background())
	h.own(key, state)
	return 0, nil
}

func (h *history) state(key string, index int) guidon.Revision {
	h.past.Lock()
	defer h.past.Unlock()
	return h.past.states[key][index]
}

// explain returns what is wrong with a result that was returned between two states,
// both included, or "".
func (h *history) explain(key string, from, to int, got result) string {
	h.past.Lock()
	defer h.past.Unlock()
	window := h.past.states[key][from : to+1]
	switch {
	case errors.Is(got.err, errBroken), errors.Is(got.err, context.Canceled):
		return ""
	case errors.Is(got.err, guidon.NotFound):
		got.revision = guidon.Revision{}
	case errors.Is(got.err, guidon.Unavailable): // two backups were restored, each between a query and its load
		restores := slices.DeleteFunc(slices.Clone(h.past.restores[key]), func(i int) bool { return i < from || i > to })
		if len(restores) >= 2 {
			return ""
		}
		return fmt.Sprintf("%v with %d restored backups", got.err, len(restores))
	case got.err != nil:
		return got.err.Error()
	}
	if !slices.Contains(window, got.revision) {
		return fmt.Sprintf("%v is none of %v, the states since the call began", got.revision, window)
	}
	return ""
}

// Whatever the interleaving of readers, writers, deletions, restored backups, errors
// and canceled readers, every result is a state that was current at some moment during
// the call. No query runs twice at the same time. (A namespace that is deleted and
// created again may have a load of either one running.)
func TestStrictFreshness(t *testing.T) {
	keys := []string{"a", "b", authentications}
	for seed := range uint64(300) {
		bubble.Test(t, func(t *testing.T) {
			h := newHistory(seed, keys...)
			s := cache.NewShared(h, cache.Freshness{})
			var wg sync.WaitGroup
			for reader := range 12 {
				wg.Go(func() {
					for range 40 {
						key := keys[h.draw(len(keys))]
						readOnce(t, h, s, key, reader == 0)
						time.Sleep(time.Duration(h.draw(30)) * time.Microsecond)
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					for range 40 {
						time.Sleep(time.Duration(h.draw(100)) * time.Microsecond)
						h.write(keys[h.draw(len(keys))])
					}
				})
			}
			wg.Wait()
			if h.highest[""] != 1 || h.highest[authentications] != 1 {
				t.Errorf("running concurrently: %v, want one of each", h.highest)
			}
		})
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// The same while this instance writes as well, and knows its own commits from their
// mirrors.
func TestStrictFreshnessOfWriter(t *testing.T) {
	keys := []string{"a", "b"}
	for seed := range uint64(200) {
		bubble.Test(t, func(t *testing.T) {
			h := newHistory(seed, keys...)
			h.linear = true
			s := cache.NewShared(h, cache.Freshness{MaxStale: time.Hour})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 40 {
						readOnce(t, h, s, keys[h.draw(len(keys))], false)
						time.Sleep(time.Duration(h.draw(30)) * time.Microsecond)
					}
				})
			}
			wg.Go(func() {
				for range 30 {
					time.Sleep(time.Duration(h.draw(100)) * time.Microsecond)
					h.write(keys[h.draw(len(keys))])
				}
			})
			for range 2 {
				wg.Go(func() {
					for range 20 {
						time.Sleep(time.Duration(h.draw(100)) * time.Microsecond)
						if _, err := s.Update(t.Context(), keys[h.draw(len(keys))], service.Write{}, nil); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

func readOnce(t *testing.T, h *history, s *cache.Shared, key string, leaves bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if leaves {
		time.AfterFunc(time.Duration(h.draw(100))*time.Microsecond, cancel)
	}
	from := h.now(key)
	got := read(ctx, s, key)
	if wrong := h.explain(key, from, h.now(key), got); wrong != "" {
		t.Errorf("%s: %s", key, wrong)
	}
}
