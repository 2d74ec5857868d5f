package provider

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// How long a [Cached] value is used, and how often it is fetched.
const (
	Lifetime    = time.Hour        // then it is fetched again
	MaxAge      = 24 * time.Hour   // then it is no longer used if that fails
	RetryPause  = 5 * time.Second  // after a failed fetch
	ForcedPause = 10 * time.Second // before a fetch that Newer causes, since the start of the last
)

// Cached is something that a provider publishes, such as its keys. It is fetched when it
// is needed and cached for [Lifetime]. If it cannot be fetched then, the old one is used
// until it reaches [MaxAge]. One fetch runs at a time, for all its callers. It is safe
// for concurrent use.
type Cached[T any] struct {
	fetch func(context.Context) (T, error)
	now   func() time.Time

	mu      sync.Mutex
	current Version[T]
	fetched time.Time     // start of the fetch of current
	started time.Time     // start of the last fetch
	retryAt time.Time     // after a failed fetch, when the next may start
	err     error         // of the last fetch
	running chan struct{} // closed when the fetch ends; nil if none runs
}

// Version is one version of a cached value. Number is 0 for none, and greater for each
// later fetch.
type Version[T any] struct {
	Value  T
	Number uint64
}

// NewCached returns a cached value. The fetch must end by itself: it goes on when its callers have left, so that
// one that disconnects again and again cannot keep a newer version from the others.
func NewCached[T any](fetch func(context.Context) (T, error), now func() time.Time) *Cached[T] {
	return &Cached[T]{fetch: fetch, now: now}
}

// Get returns the value, fetched if needed. It waits until ctx ends. Without a usable value it returns the error of the last fetch, immediately if that
// was less than [RetryPause] ago.
func (c *Cached[T]) Get(ctx context.Context) (Version[T], error) {
	if v, done, err := c.ready(); done {
		return v, err
	}
	return c.await(ctx, c.settled, c.usable)
}

// ready returns the result of Get if that need not wait. Unlike await, it does not
// allocate.
func (c *Cached[T]) ready() (v Version[T], done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, err = c.settled(c.now()); !done {
		return v, false, nil
	}
	v, err = c.currentUnless(err)
	return v, true, err
}

// Newer returns a version later than the given one, fetched if needed. It returns the
// current version if a fetch has started less than [ForcedPause] ago, or the error of
// that fetch.
func (c *Cached[T]) Newer(ctx context.Context, than uint64) (Version[T], error) {
	settled := func(now time.Time) (bool, error) {
		switch {
		case c.current.Number > than:
			return true, nil
		case c.running == nil && now.Before(c.started.Add(ForcedPause)):
			return true, c.err
		}
		return false, nil
	}
	return c.await(ctx, settled, func(time.Time) bool { return false })
}

// usable reports whether the current version may be returned if it cannot be fetched
// again. c.mu must be held.
func (c *Cached[T]) usable(now time.Time) bool {
	return c.current.Number > 0 && now.Sub(c.fetched) < MaxAge
}

// settled reports whether Get need not wait for a fetch, and returns its error then. c.mu
// must be held.
func (c *Cached[T]) settled(now time.Time) (bool, error) {
	usable := c.usable(now)
	switch {
	case usable && now.Sub(c.fetched) < Lifetime:
		return true, nil
	case c.running != nil && usable && c.err != nil:
		return true, nil // an outage: one caller at a time finds out whether it is over
	case c.running != nil || !now.Before(c.retryAt):
		return false, nil
	case usable:
		return true, nil
	}
	return true, c.err
}

// await returns the current version as soon as settled reports true, or the error that
// settled returns. Otherwise it waits for a fetch. If that fails, usable decides whether
// the current version is returned nevertheless. The functions run while c.mu is held.
func (c *Cached[T]) await(
	ctx context.Context, settled func(now time.Time) (bool, error), usable func(now time.Time) bool,
) (Version[T], error) {
	c.mu.Lock()
	if done, err := settled(c.now()); done {
		defer c.mu.Unlock()
		return c.currentUnless(err)
	}
	if c.running == nil {
		c.running, c.started = make(chan struct{}), c.now()
		go c.run(context.WithoutCancel(ctx), c.running)
	}
	running := c.running
	c.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		return Version[T]{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if usable(c.now()) {
		return c.current, nil
	}
	return c.currentUnless(c.err)
}

// currentUnless returns the current version, or the error if there is one. c.mu must be
// held.
func (c *Cached[T]) currentUnless(err error) (Version[T], error) {
	if err != nil {
		return Version[T]{}, err
	}
	return c.current, nil
}

// run fetches the value, and closes the channel at its end.
func (c *Cached[T]) run(ctx context.Context, end chan struct{}) {
	value, err := c.guarded(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(end)
	if err == nil {
		c.current = Version[T]{Value: value, Number: c.current.Number + 1}
		c.fetched = c.started
	} else {
		c.retryAt = c.now().Add(RetryPause)
	}
	c.running, c.err = nil, err
}

// guarded turns a panic into an error: otherwise it would end the process.
func (c *Cached[T]) guarded(ctx context.Context) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while fetching: %v", p)
		}
	}()
	return c.fetch(ctx)
}
