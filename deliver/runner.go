package deliver

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Store is what a [Runner] needs of the database.
type Store interface {
	service.ChangeReaders
	service.ChangeLog
	// Shared reports whether other processes may use the database.
	Shared() bool
	// Revisions returns a number that differs after every change.
	Revisions(ctx context.Context) (int64, error)
	Leases
}

// The lease. Its holder starts nothing within the margin before its end, so a successor repeats at most what was
// under way.
const (
	leaseTime   = 15 * time.Second
	leaseMargin = 5 * time.Second

	// Interval is that at which [Runner.Run] must be called.
	Interval = 5 * time.Second

	pollTime    = time.Second     // between two looks for changes
	skipTime    = time.Second     // between two writes of a running server for what is not selected, of one target
	failureTime = 5 * time.Second // until a target is tried again after an error of the database
)

// Limits of what a runner does at a time.
const (
	maxAttempts = 32
	maxReading  = 4
)

// Runner delivers to targets while it holds a lease.
type Runner struct {
	lease   string
	store   Store
	targets func(ctx context.Context) ([]Target, error)
	logger  *slog.Logger

	attempts, reading chan struct{}

	mu     sync.Mutex
	behind map[string]time.Time // by reader: when the oldest record was written that it has not passed
}

// NewRunner returns a runner with the lease of that name. targets returns what to deliver to, and is called again
// after every change.
func NewRunner(lease string, store Store, targets func(ctx context.Context) ([]Target, error), logger *slog.Logger) *Runner {
	return &Runner{
		lease: lease, store: store, targets: targets, logger: logger,
		attempts: make(chan struct{}, maxAttempts), reading: make(chan struct{}, maxReading), behind: map[string]time.Time{},
	}
}

// Behind returns how far readers are behind, as far as this process delivers to their targets.
func (r *Runner) Behind() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	behind := map[string]time.Duration{}
	for reader, since := range r.behind {
		behind[reader] = 0
		if !since.IsZero() {
			behind[reader] = time.Since(since)
		}
	}
	return behind
}

func (r *Runner) noteBehind(reader string, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind[reader] = since
}

// Run delivers until ctx ends or another process has the lease. It returns at once if there are no targets, or
// another process delivers.
func (r *Runner) Run(ctx context.Context) error {
	return r.whileHeld(ctx, func(ctx context.Context, h *holding) error {
		h.pause = skipTime
		workers := map[string]*worker{}
		defer func() {
			for _, w := range workers {
				w.stop()
			}
		}()
		last := int64(-1)
		for {
			sum, err := r.store.Revisions(ctx)
			if err == nil && sum != last {
				if err = r.update(ctx, h, workers); err == nil {
					last = sum
				}
			}
			if err != nil && ctx.Err() == nil {
				r.logger.Warn("cannot look for changes to deliver", "lease", r.lease, "error", err)
			}
			if len(workers) == 0 && err == nil {
				return nil
			}
			if err := clock.Sleep(ctx, pollTime); err != nil {
				return nil
			}
		}
	})
}

// Drain delivers what there is now, once, and returns.
func (r *Runner) Drain(ctx context.Context) error {
	return r.whileHeld(ctx, func(ctx context.Context, h *holding) error {
		targets, err := r.targets(ctx)
		if err != nil {
			return err
		}
		var working sync.WaitGroup
		failed := make([]error, len(targets))
		for i, t := range targets {
			working.Go(func() {
				for more := true; more && failed[i] == nil; {
					more, _, failed[i] = r.round(ctx, h, t)
				}
			})
		}
		working.Wait()
		return errors.Join(failed...)
	})
}

// holding is a lease that is held.
type holding struct {
	pause time.Duration // after a write for what is not selected
	until atomic.Pointer[time.Time]
}

func (h *holding) extend(begun time.Time) { h.until.Store(new(begun.Add(leaseTime))) }

// mayStart reports whether something may be started.
func (h *holding) mayStart() bool { return time.Until(*h.until.Load()) > leaseMargin }

// whileHeld calls fn while the lease is held; not at all if there are no targets, or another process holds it.
func (r *Runner) whileHeld(ctx context.Context, fn func(ctx context.Context, h *holding) error) error {
	if targets, err := r.targets(ctx); err != nil || len(targets) == 0 {
		return err
	}
	l := Lease{Name: r.lease, Holder: rand.Text(), Time: leaseTime}
	if !r.store.Shared() { // what a process left behind that was killed must not be waited for
		l.Holder = "the only process"
	}
	h := &holding{}
	_, err := WhileHeld(ctx, r.store, l, h.extend, func(ctx context.Context) error { return fn(ctx, h) })
	r.mu.Lock()
	clear(r.behind)
	r.mu.Unlock()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// worker delivers to one target.
type worker struct {
	version string // of the target
	wake    chan struct{}
	cancel  context.CancelFunc
	ended   chan struct{}
}

func (w *worker) stop() {
	w.cancel()
	<-w.ended
}

// update makes the workers those of the current targets, and wakes them. What is under way to a target that has changed is
// broken off and begun again.
func (r *Runner) update(ctx context.Context, h *holding, workers map[string]*worker) error {
	targets, err := r.targets(ctx)
	if err != nil {
		return err
	}
	current := map[string]Target{}
	for _, t := range targets {
		current[t.Reader()] = t
	}
	for reader, w := range workers {
		if t := current[reader]; t == nil || t.Version() != w.version {
			w.stop()
			delete(workers, reader)
			r.mu.Lock()
			delete(r.behind, reader)
			r.mu.Unlock()
		}
	}
	for reader, t := range current {
		w := workers[reader]
		if w == nil {
			w = r.start(ctx, h, t)
			workers[reader] = w
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

func (r *Runner) start(ctx context.Context, h *holding, t Target) *worker {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{version: t.Version(), wake: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		for ctx.Err() == nil {
			more, next, err := r.round(ctx, h, t)
			if err != nil && ctx.Err() == nil {
				r.logger.Warn("cannot deliver changes", "reader", t.Reader(), "error", err)
				next = time.Now().Add(failureTime)
			}
			if !more || err != nil {
				w.rest(ctx, next)
			}
		}
	}()
	return w
}

// rest waits for the time, unless it is zero, or until the worker is woken.
func (w *worker) rest(ctx context.Context, until time.Time) {
	var timer <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
	case <-w.wake:
	case <-timer:
	}
}
