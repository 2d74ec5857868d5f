package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
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
	fetched time.Time // start of the fetch of current
	started time.Time // start of the last fetch
	retryAt time.Time // after a failed fetch, when the next may start
	err     error     // of the last fetch
	running *sharedFetch
}

// Version is one version of a cached value. Number is 0 for none, and greater for each
// later fetch.
type Version[T any] struct {
	Value  T
	Number uint64
}

// NewCached returns a cached value. The fetch must end soon after its context.
func NewCached[T any](fetch func(context.Context) (T, error), now func() time.Time) *Cached[T] {
	return &Cached[T]{fetch: fetch, now: now}
}

// Get returns the value, fetched if needed. It waits until ctx ends, except that the
// last caller to leave a running fetch may stay for another second (see sharedFetch).
// Without a usable value it returns the error of the last fetch, immediately if that
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
	for {
		c.mu.Lock()
		if done, err := settled(c.now()); done {
			defer c.mu.Unlock()
			return c.currentUnless(err)
		}
		f := c.join(ctx)
		c.mu.Unlock()
		if f == nil {
			continue
		}
		if err := f.wait(ctx, &c.mu); err != nil {
			return Version[T]{}, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if usable(c.now()) {
			return c.current, nil
		}
		return c.currentUnless(f.err)
	}
}

// currentUnless returns the current version, or the error if there is one. c.mu must be
// held.
func (c *Cached[T]) currentUnless(err error) (Version[T], error) {
	if err != nil {
		return Version[T]{}, err
	}
	return c.current, nil
}

// join adds a waiter to the running fetch, or to one that it starts. It returns nil
// after waiting for an abandoned one. c.mu must be held; it is released while waiting.
func (c *Cached[T]) join(ctx context.Context) *sharedFetch {
	if f := c.running; f != nil && f.ctx.Err() != nil {
		c.mu.Unlock()
		<-f.done
		c.mu.Lock()
		return nil
	}
	if c.running == nil {
		c.running = newSharedFetch(ctx)
		c.started = c.now()
		go c.run(c.running, c.started)
	}
	c.running.waiters++
	return c.running
}

// errAbandoned is the error of a fetch that was canceled. It does not wrap that of the
// fetch: the callers that get it have not canceled anything.
var errAbandoned = &guidon.Error{
	Code:    guidon.Unavailable,
	Message: "a provider is unavailable; try again later",
	Err:     errors.New("the last fetch was canceled because its callers left"),
}

// run fetches the value for the waiters of f.
func (c *Cached[T]) run(f *sharedFetch, started time.Time) {
	value, err := c.guarded(f.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(f.done)
	abandoned := f.ctx.Err() != nil
	f.cancel()
	switch {
	case err == nil:
		c.current = Version[T]{Value: value, Number: c.current.Number + 1}
		c.fetched = started
	case abandoned: // the provider may be fine, so the next caller need not wait
		err = errAbandoned
	default:
		c.retryAt = c.now().Add(RetryPause)
	}
	c.running, c.err, f.err = nil, err, err
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
