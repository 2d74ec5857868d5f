// Package flight runs a call once for all who need its result at the same time.
package flight

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs one call of each key at a time. The zero Group is empty. It is safe for
// concurrent use.
type Group[K comparable, T any] struct {
	mu      sync.Mutex
	running map[K]*call[T]
}

// call is a running call and its waiters.
type call[T any] struct {
	cancel  context.CancelFunc
	waiters int // guarded by the mutex of its group
	done    chan struct{}
	value   T // set, like err, before done is closed
	err     error
}

// Do returns the result of the call with the key, which it starts if none runs, or the error
// of ctx if that ends first. The call runs on a goroutine of its own. When all its waiters
// have left, it is canceled, nobody can join it any longer, and the last one waits for its
// end. A panic becomes an error: otherwise it would end the process.
func (g *Group[K, T]) Do(ctx context.Context, key K, fn func(ctx context.Context) (T, error)) (value T, err error) {
	c := g.join(ctx, key, fn)
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		if g.leave(key, c) {
			c.cancel()
			<-c.done
		}
		return value, ctx.Err()
	}
}

// join adds a waiter to the call with the key.
func (g *Group[K, T]) join(ctx context.Context, key K, fn func(ctx context.Context) (T, error)) *call[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.running[key]
	if c == nil {
		c = &call[T]{done: make(chan struct{})}
		ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- run calls it
		if g.running == nil {
			g.running = make(map[K]*call[T])
		}
		g.running[key] = c
		go g.run(ctx, key, c, fn)
	}
	c.waiters++
	return c
}

// run runs the call.
func (g *Group[K, T]) run(ctx context.Context, key K, c *call[T], fn func(ctx context.Context) (T, error)) {
	defer func() {
		if p := recover(); p != nil {
			c.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		c.cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.forget(key, c)
		close(c.done)
	}()
	c.value, c.err = fn(ctx)
}

// leave removes a waiter, and reports whether it was the last one.
func (g *Group[K, T]) leave(key K, c *call[T]) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiters--; c.waiters > 0 {
		return false
	}
	g.forget(key, c)
	return true
}

// forget removes the call from those that others can join. g.mu must be held.
func (g *Group[K, T]) forget(key K, c *call[T]) {
	if g.running[key] == c {
		delete(g.running, key)
	}
}
