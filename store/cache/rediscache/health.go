package rediscache

import (
	"context"
	"sync"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

const (
	// The pause before Redis is tried again grows from minRetry to maxRetry.
	minRetry = 50 * time.Millisecond
	maxRetry = 2 * time.Second
	// probeTimeout is generous: no caller waits, and a connection may have to be opened.
	probeTimeout = time.Second
)

// health is the state of Redis according to the last round trips. After a failure no reader
// queries Redis until a probe, for which no caller waits, has succeeded. So an unavailable
// Redis costs its timeout once. The zero value is a Redis that responds.
type health struct {
	mu      sync.Mutex
	cause   error         // why readers do not query Redis; nil while they do
	key     string        // the key of the round trip that failed
	failing time.Time     // start of the first of the failures in a row; zero if the last round trip succeeded
	retry   time.Time     // when the next probe is due
	pause   time.Duration // the last pause before a probe
	probing bool
	ended   bool
}

// available reports whether to query Redis. If not, it starts a probe when one is due.
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

// probe checks whether Redis can again do everything that is needed of it: it announces
// a write that does not exist, for the key that failed before.
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

// state reports whether Redis responds. If it does not, probe is whether the caller
// must probe it, with the key.
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

// failed records a round trip that began at begun and failed.
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

// wait sets when the next probe is due. h.mu must be held.
func (h *health) wait(now time.Time) {
	h.pause = min(max(2*h.pause, minRetry), maxRetry)
	h.retry = now.Add(clock.Jitter(h.pause))
}

// failingFor returns how long every round trip has failed, or zero if the last one
// succeeded.
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

// end prevents further probes.
func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}
