package provider

import (
	"context"
	"sync"
	"time"
)

// abandonedTime is how long a fetch continues when no caller waits for it any longer.
const abandonedTime = time.Second

// sharedFetch is one fetch and its waiters. It runs on a goroutine of its own, which
// ends before its last waiter returns.
//
// The last waiter stays for abandonedTime after its context has ended, and then cancels
// the fetch. If it canceled the fetch immediately, a client that disconnects again and
// again could use up the one fetch in ten seconds that [Cached.Newer] allows, and so keep
// new keys from all others.
type sharedFetch struct {
	ctx     context.Context
	cancel  context.CancelFunc
	waiters int // guarded by the mutex of its Cached
	done    chan struct{}
	err     error // set before done is closed
}

func newSharedFetch(ctx context.Context) *sharedFetch {
	f := &sharedFetch{done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- run and leave call it
	return f
}

// wait waits for the fetch, and returns an error if ctx ends first. mu guards the
// waiters and must not be held.
func (f *sharedFetch) wait(ctx context.Context, mu sync.Locker) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		f.leave(mu)
		return ctx.Err()
	}
}

// leave removes a waiter.
func (f *sharedFetch) leave(mu sync.Locker) {
	mu.Lock()
	last := f.waiters == 1
	if !last {
		f.waiters--
	}
	mu.Unlock()
	if !last {
		return
	}
	timer := time.NewTimer(abandonedTime)
	defer timer.Stop()
	select {
	case <-f.done:
		return
	case <-timer.C:
	}
	mu.Lock()
	f.waiters--
	abandoned := f.waiters == 0
	if abandoned {
		f.cancel()
	}
	mu.Unlock()
	if abandoned {
		<-f.done
	}
}
