package server

import (
	"sync"
	"time"
)

// deadline is when reading or writing has to end.
type deadline struct {
	mu     sync.Mutex
	at     int64 // in nanoseconds after the listener's epoch; 0 is never
	passed bool  // at did, and there has been no other since
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// set notes the deadline. Only one that has passed, or that follows one, is the
// business of the connection, which apply tells.
func (d *deadline) set(l *httpListener, t time.Time, apply func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = 0
	if !t.IsZero() {
		d.at = int64(t.Sub(l.epoch))
		if d.at <= l.now.Load() {
			d.at, d.passed = 0, true
			return apply(longAgo)
		}
	}
	if !d.passed {
		return nil
	}
	d.passed = false
	return apply(time.Time{})
}

// expire tells the connection when the deadline has passed.
func (d *deadline) expire(now int64, apply func(time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != 0 && d.at <= now {
		d.at, d.passed = 0, true
		_ = apply(longAgo) // of a connection that is closed, nothing waits
	}
}
