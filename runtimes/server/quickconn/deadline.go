package quickconn

import (
	"sync"
	"time"
)

// deadline is the read or write deadline of a [Conn].
type deadline struct {
	mu     sync.Mutex
	at     int64 // in nanoseconds after the group's epoch; 0 means none
	passed bool  // the deadline has passed, and no other one has been set since
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// set records the deadline. It calls apply only for a deadline that has already
// passed, or for the first one set after that.
func (d *deadline) set(g *Group, t time.Time, apply func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = 0
	if !t.IsZero() {
		d.at = int64(t.Sub(g.epoch))
		if d.at <= g.swept.Load() {
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

// expire calls apply if the deadline has passed.
func (d *deadline) expire(now int64, apply func(time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != 0 && d.at <= now {
		d.at, d.passed = 0, true
		_ = apply(longAgo) // it fails if the connection is closed
	}
}
