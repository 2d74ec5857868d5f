package quickconn

import (
	"sync/atomic"
	"time"
)

// Group has the state that the connections of a listener share. Its methods are safe for
// concurrent use.
type Group struct {
	epoch     time.Time
	swept     atomic.Int64 // time of the last sweep, in nanoseconds after epoch
	maxYields atomic.Int32 // see the function maxYields
}

// NewGroup returns an empty group.
func NewGroup() *Group { return &Group{epoch: time.Now()} }

// Now returns the time since the group was created, in nanoseconds.
func (g *Group) Now() int64 { return int64(time.Since(g.epoch)) }

// Swept returns the time of the last sweep, as Now does.
func (g *Group) Swept() int64 { return g.swept.Load() }

// BeginSweep returns the time of a sweep that starts now. [Conn.Sweep] must then be
// called for each connection of the group.
func (g *Group) BeginSweep() int64 {
	now := g.Now()
	g.swept.Store(now)
	return now
}

// SetSize sets the number of connections in the group.
func (g *Group) SetSize(connections int) { g.maxYields.Store(maxYields(connections)) }

// MaxYields returns how many consecutive Reads of one connection may yield.
func (g *Group) MaxYields() int32 { return g.maxYields.Load() }

// The most consecutive Reads that yield: of one connection, and of all together.
const (
	maxConnYields  = 3
	maxTotalYields = 256
)

// maxYields returns how many consecutive Reads of a connection may yield. While any
// goroutine can run, the runtime polls idle connections for input only every 10 ms, so
// there must not be many goroutines that keep yielding.
func maxYields(connections int) int32 {
	return int32(min(maxConnYields, maxTotalYields/max(connections, 1))) // #nosec G115 -- at most maxConnYields
}
