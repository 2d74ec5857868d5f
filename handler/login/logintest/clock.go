package logintest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is advanced. It is safe for concurrent
// use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows some time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)} }

// NewClockAt returns a clock that shows the time, such as for a service with the clock of
// the system.
func NewClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
