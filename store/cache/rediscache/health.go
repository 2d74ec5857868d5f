package rediscache

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// The pause before Redis is tried again grows from one to the other.
	minRetry = 50 * time.Millisecond
	maxRetry = 2 * time.Second
	// probeTimeout is generous: nobody waits, and a connection may have to be made.
	probeTimeout = time.Second
)

// health is what the last round trips tell of Redis. After one has failed no
// reader asks until a probe, for which nobody waits, has been answered: so a Redis
// that is away costs its timeout once. The zero value is a Redis that answers.
type health struct {
	mu      sync.Mutex
	cause   error         // why readers do not ask; nil while they do
	key     string        // what that was about
	failing time.Time     // when the first round trip began of those that failed in a row; zero: the last was answered
	retry   time.Time     // when the next probe is due
	pause   time.Duration // before it
	probing bool
	ended   bool
}

// available tells whether Redis is to be asked, and otherwise sees to a probe.
func (s *Source) available(ctx context.Context) bool {
	if s.writeOnly {
		return false
	}
	answers, due, key := s.health.state(time.Now())
	if due {
		s.background.Go(func() { s.probe(context.WithoutCancel(ctx), key) })
	}
	return answers
}

// probe tries whether Redis does again all that is needed of it, with a write
// that never was, about the key that failed before.
func (s *Source) probe(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := eval(ctx, s.client, announceScript,
		[]run{{[]string{key}, []any{"probe", milliseconds(0), milliseconds(newStateTTL)}}})
	if err != nil {
		s.stats.errors.Add(1)
	}
	s.health.probed(time.Now(), err)
}

// state tells whether Redis answers and otherwise whether the caller is to probe
// it, by the key.
func (h *health) state(now time.Time) (answers, probe bool, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		return true, false, ""
	}
	probe = !h.probing && !h.ended && !now.Before(h.retry)
	h.probing = h.probing || probe
	return false, probe, h.key
}

func (h *health) answered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failing = time.Time{}
	if h.cause == nil {
		h.pause = 0
	}
}

// failed takes note of a round trip that failed, and when it had begun.
func (h *health) failed(begun time.Time, key string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failing.IsZero() {
		h.failing = begun
	}
	if h.cause == nil {
		h.key = key
		h.wait(time.Now())
	}
	h.cause = err
}

func (h *health) probed(now time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probing = false
	h.cause = err
	if err != nil {
		h.wait(now)
	}
}

// wait sets when the next probe is due. h.mu is held.
func (h *health) wait(now time.Time) {
	h.pause = min(max(2*h.pause, minRetry), maxRetry)
	h.retry = now.Add(h.pause/2 + rand.N(h.pause)) // #nosec G404 -- jitter, not a secret
}

// failingFor returns for how long nothing has been answered that was asked.
func (h *health) failingFor() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failing.IsZero() {
		return 0
	}
	return time.Since(h.failing)
}

func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause
}

// end lets no more probes begin.
func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}
