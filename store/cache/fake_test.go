package cache_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// fake is a shared database of which only the revisions matter. set and drop stand for
// the writes of other instances. Each query and load runs its hooks.
type fake struct {
	cache.SharedSource // nil: no other method is called

	headsHook func(ctx context.Context, keys []string) error // before the revisions are read
	loadHook  func(ctx context.Context, key string) error    // before the state is read
	afterHook func()                                         // after either

	mu           sync.Mutex
	states       map[string]guidon.Revision
	queried      [][]string                 // the keys of each query, sorted
	loads        []string                   // the key of each load
	held         []guidon.Revision          // the revision that each load started from
	running      map[string]int             // running loads by key, and running queries under ""
	highest      map[string]int             // the highest value of running for each key
	previous     map[string]guidon.Revision // what loads return instead of the current state
	writeErr     error                      // the error of writes
	writes       int                        // the number of attempts
	unmirrored   bool                       // writes do not advance their mirrors
	deleting     bool                       // writes delete the namespace
	beforeCommit func()                     // during a write, before its commit
	afterCommit  func()                     // after that, before the mirror is advanced
}

func newFake() *fake {
	return &fake{
		states: map[string]guidon.Revision{"a": {Number: 1, Stamp: 1}}, running: map[string]int{}, highest: map[string]int{},
		previous: map[string]guidon.Revision{},
	}
}

func (f *fake) set(key string, number, stamp int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[key] = guidon.Revision{Number: number, Stamp: stamp}
}

func (f *fake) drop(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.states, key)
}

// UpdateMirrored writes to the key, or fails.
func (f *fake) UpdateMirrored(_ context.Context, key string, _ service.Write, mirror service.Mirror[guidon.SnapshotDelta], _ func(context.Context, service.Tx) error) (int64, error) {
	held, known := mirror.Held()
	return 0, f.write(key, held, known, func(from, to guidon.Revision) {
		delta := guidon.SnapshotDelta{Revision: to, Namespace: &guidon.Namespace{Key: key}}
		if f.deleting {
			from, delta.Namespace = guidon.Revision{}, nil
		}
		mirror.Advance(from, delta)
	})
}

// UpdateAuthenticationsMirrored writes to the authentications if fn does, or fails.
func (f *fake) UpdateAuthenticationsMirrored(ctx context.Context, _ service.Write, mirror service.Mirror[service.AuthenticationDelta], fn func(context.Context, service.AuthenticationTx) error) error {
	tx := &fakeTx{}
	held, known := mirror.Held()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if !tx.changed {
		mirror.Advance(held)
		return nil
	}
	return f.write(service.AuthenticationsKey, held, known, func(from, to guidon.Revision) {
		mirror.Advance(from, service.AuthenticationDelta{Revision: to})
	})
}

// write makes the next state of the key, and advances the mirror to it from held, or
// from nothing if this is the first state.
func (f *fake) write(key string, held guidon.Revision, known bool, advance func(from, to guidon.Revision)) error {
	call(f.beforeCommit)
	next, err := f.next(key)
	call(f.afterCommit)
	if err == nil && !f.unmirrored && (known || next.Number == 1) {
		advance(held, next)
	}
	return err
}

func (f *fake) next(key string) (guidon.Revision, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.writeErr != nil {
		return guidon.Revision{}, f.writeErr
	}
	r := f.states[key]
	r = guidon.Revision{Number: r.Number + 1, Stamp: r.Stamp + 1000}
	if f.states[key] = r; f.deleting {
		delete(f.states, key)
	}
	return r, nil
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}

// fakeTx is a transaction that can only delete.
type fakeTx struct {
	service.AuthenticationTx
	changed bool
}

func (tx *fakeTx) DeleteAuthentication(context.Context, string) error {
	tx.changed = true
	return nil
}

// write writes to the key through the cache.
func write(ctx context.Context, s *cache.Shared, key string) error {
	if key == service.AuthenticationsKey {
		return s.UpdateAuthentications(ctx, service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			return tx.DeleteAuthentication(ctx, "a")
		})
	}
	_, err := s.Update(ctx, key, service.Write{}, nil)
	return err
}

// queries returns the number of queries so far.
func (f *fake) queries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queried)
}

// enter counts a query or load as running until leave is called.
func (f *fake) enter(what string) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[what]++
	f.highest[what] = max(f.highest[what], f.running[what])
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running[what]--
	}
}

func (f *fake) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	defer f.enter("")()
	f.mu.Lock()
	f.queried = append(f.queried, slices.Sorted(slices.Values(keys)))
	hook := f.headsHook
	f.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, keys); err != nil {
			return nil, err
		}
	}
	heads := f.read(keys)
	if f.afterHook != nil {
		f.afterHook()
	}
	return heads, nil
}

func (f *fake) read(keys []string) map[string]guidon.Revision {
	f.mu.Lock()
	defer f.mu.Unlock()
	heads := map[string]guidon.Revision{}
	for _, key := range keys {
		if r, exists := f.states[key]; exists {
			heads[key] = r
		}
	}
	return heads
}

func (f *fake) load(ctx context.Context, key string, held guidon.Revision) (guidon.Revision, error) {
	defer f.enter(key)()
	f.mu.Lock()
	f.loads, f.held = append(f.loads, key), append(f.held, held)
	f.mu.Unlock()
	if f.loadHook != nil {
		if err := f.loadHook(ctx, key); err != nil {
			return guidon.Revision{}, err
		}
	}
	f.mu.Lock()
	r, exists := f.states[key]
	if old, set := f.previous[key]; set {
		r = old
	}
	f.mu.Unlock()
	if f.afterHook != nil {
		f.afterHook()
	}
	if !exists && key != service.AuthenticationsKey {
		return r, guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
	}
	return r, nil
}

func (f *fake) Load(ctx context.Context, key string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	var from guidon.Revision
	if held != nil {
		from = held.Revision()
	}
	r, err := f.load(ctx, key, from)
	if err != nil {
		return nil, err
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: key}, r, nil, nil), nil
}

func (f *fake) LoadAuthentications(ctx context.Context, held *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	var from guidon.Revision
	if held != nil {
		from = held.Revision()
	}
	r, err := f.load(ctx, service.AuthenticationsKey, from)
	if err != nil {
		return nil, err
	}
	return service.NewAuthenticationSet(r, nil), nil
}

// result is what a reader got.
type result struct {
	revision guidon.Revision
	err      error
	age      time.Duration
}

// read reads the namespace, or the authentications, from the cache.
func read(ctx context.Context, s *cache.Shared, key string) result {
	return readAs(ctx, s, service.Demand{}, key)
}

// readStale is read for a caller that accepts an old state.
func readStale(ctx context.Context, s *cache.Shared, key string) result {
	return readAs(ctx, s, service.Demand{MayBeStale: true}, key)
}

func readAs(ctx context.Context, s *cache.Shared, d service.Demand, key string) result {
	if key == service.AuthenticationsKey {
		set, age, err := s.Authentications(ctx, d, "")
		if err != nil {
			return result{age: age, err: err}
		}
		return result{revision: set.Revision(), age: age}
	}
	shot, age, err := s.Snapshot(ctx, key, d)
	if err != nil {
		return result{age: age, err: err}
	}
	return result{revision: shot.Revision(), age: age}
}

// readAsync is read in a goroutine, and readStaleAsync is readStale in one.
func readAsync(ctx context.Context, s *cache.Shared, key string) chan result {
	return async(func() result { return read(ctx, s, key) })
}

func readStaleAsync(ctx context.Context, s *cache.Shared, key string) chan result {
	return async(func() result { return readStale(ctx, s, key) })
}

func async(read func() result) chan result {
	answer := make(chan result, 1)
	go func() { answer <- read() }()
	return answer
}

func wantNumber(t *testing.T, what string, got result, want int64) {
	t.Helper()
	if got.err != nil || got.revision.Number != want {
		t.Errorf("%s: got revision %d, %v, want %d", what, got.revision.Number, got.err, want)
	}
}
