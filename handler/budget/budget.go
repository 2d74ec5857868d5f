// Package budget limits the memory of the requests and responses in progress, so
// that a flood of large ones costs its senders time and not the process its life.
package budget

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/guidonhq/guidon"
)

// Default is the limit of a budget whose owner names none, in bytes.
const Default = 32 << 20

// Small is the largest reservation, in bytes, that a pool serves from the share it
// keeps for small ones. Evaluations of single flags are small: they go on while a
// flood of large requests waits.
const Small = 64 << 10

// maxWait is how long a reservation waits for room.
const maxWait = time.Second

// Budget is the pools of a process. Nobody waits for one pool while holding room in
// another that a holder of the first may need: a request takes from Bodies, then
// from Messages, then from Responses.
type Budget struct {
	Bodies    *Pool // encoded requests, from their arrival until they are decoded
	Messages  *Pool // decoded requests, until they are answered
	Responses *Pool // encoded responses, until the client has taken them
}

// New returns a budget of limit bytes, or of [Default] if limit is 0.
func New(limit int64) *Budget {
	if limit == 0 {
		limit = Default
	}
	return &Budget{
		Bodies:    NewPool(limit / 4),
		Messages:  NewPool(limit / 2),
		Responses: NewPool(limit / 4),
	}
}

// Pool is memory that requests reserve before they use it. Its methods are safe for
// concurrent use. A nil Pool has no limit.
type Pool struct {
	size     int64
	small    lane // a quarter of size
	large    lane // the rest
	used     atomic.Int64
	rejected atomic.Int64
}

// lane is the share of a pool for one kind of reservation.
type lane struct {
	size int64
	room *semaphore.Weighted
}

// NewPool returns a pool of size bytes.
func NewPool(size int64) *Pool {
	small := max(size/4, Small)
	large := max(size-small, Small)
	return &Pool{
		size:  small + large,
		small: lane{small, semaphore.NewWeighted(small)},
		large: lane{large, semaphore.NewWeighted(large)},
	}
}

// errFull is returned to a request for which there is no room.
var errFull = guidon.Errorf(guidon.Unavailable, "the service has no memory left for this request; try again later")

// Acquire reserves n bytes. It waits for room for up to a second, and then returns
// Unavailable; it returns the context's error if that ends first. A reservation of
// more than the pool's share for large ones takes all of that share.
func (p *Pool) Acquire(ctx context.Context, n int64) error {
	if p == nil || p.TryAcquire(n) {
		return nil
	}
	lane, n := p.laneOf(n)
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if lane.room.Acquire(waiting, n) != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.reject()
	}
	p.used.Add(n)
	return nil
}

// exchange replaces a reservation of held bytes by one of n, if there is room at once,
// and reports whether there was. Zero is none.
func (p *Pool) exchange(held, n int64) bool {
	if p == nil {
		return true
	}
	from, held := p.laneOf(held)
	to, n := p.laneOf(n)
	give, take := held, n
	if from == to {
		give, take = max(held-n, 0), max(n-held, 0)
	}
	if take > 0 && !to.room.TryAcquire(take) {
		return false
	}
	if give > 0 {
		from.room.Release(give)
	}
	p.used.Add(n - held)
	return true
}

// reject counts a reservation for which there is no room, and returns its error.
func (p *Pool) reject() error {
	p.rejected.Add(1)
	return errFull
}

// TryAcquire reserves n bytes if there is room at once, and reports whether there
// was.
func (p *Pool) TryAcquire(n int64) bool { return p.exchange(0, n) }

// Release returns a reservation. n is the number given to Acquire.
func (p *Pool) Release(n int64) { p.exchange(n, 0) }

// laneOf returns the lane of a reservation of n bytes, and what it takes there.
func (p *Pool) laneOf(n int64) (*lane, int64) {
	if n <= Small {
		return &p.small, n
	}
	return &p.large, min(n, p.large.size)
}

// Stats is the state of a pool.
type Stats struct {
	Size     int64 // bytes that can be reserved
	Used     int64 // bytes that are
	Rejected int64 // reservations that found no room, so far
}

// Stats returns the state of the pool.
func (p *Pool) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	return Stats{Size: p.size, Used: p.used.Load(), Rejected: p.rejected.Load()}
}
