package limit

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/guidonhq/guidon"
)

// DefaultBudget is the limit of a budget if none is given, in bytes.
const DefaultBudget = 32 << 20

// SmallBudget is the largest reservation, in bytes, that a pool serves from its share for
// small reservations. Evaluations of single flags are small, so they continue while a
// flood of large requests waits.
const SmallBudget = 64 << 10

// maxWait is how long a reservation waits for room.
const maxWait = time.Second

// Budget is the pools of a process. To prevent deadlock, a request reserves in a fixed
// order: from Bodies, then from Messages, then from Responses.
type Budget struct {
	Bodies    *Pool // encoded requests, from their arrival until they are decoded
	Messages  *Pool // decoded requests, until they are answered
	Responses *Pool // encoded responses, until the client has received them
	Heavy     *Heavy
}

// roomShare is the room of a heavy operation relative to the limit of a budget.
const roomShare = 3

// NewBudget returns a budget of limit bytes, or of [DefaultBudget] if limit is 0. One heavy operation
// runs at a time.
func NewBudget(limit int64) *Budget {
	limit = cmp.Or(limit, DefaultBudget)
	return &Budget{
		Bodies:    NewPool(limit / 4),
		Messages:  NewPool(limit / 2),
		Responses: NewPool(limit / 4),
		Heavy:     NewHeavy(1, roomShare*limit),
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
	small := max(size/4, SmallBudget)
	large := max(size-small, SmallBudget)
	return &Pool{
		size:  small + large,
		small: lane{small, semaphore.NewWeighted(small)},
		large: lane{large, semaphore.NewWeighted(large)},
	}
}

// errFull is returned to a request that finds no room.
var errFull = guidon.Errorf(guidon.Unavailable, "not enough memory for this request; try again later")

// Acquire reserves n bytes. It waits for room for up to a second and then returns
// Unavailable. If the context ends first, it returns the context's error. A reservation
// larger than the pool's share for large reservations takes all of that share.
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

// exchange replaces a reservation of held bytes by one of n bytes if there is room
// without waiting, and reports whether it did. Zero means no reservation.
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

// reject counts a reservation that found no room, and returns its error.
func (p *Pool) reject() error {
	p.rejected.Add(1)
	return errFull
}

// TryAcquire reserves n bytes if there is room without waiting, and reports whether it
// did.
func (p *Pool) TryAcquire(n int64) bool { return p.exchange(0, n) }

// Release frees a reservation. n must be the number given to Acquire.
func (p *Pool) Release(n int64) { p.exchange(n, 0) }

// laneOf returns the lane of a reservation of n bytes, and how many bytes it takes there.
func (p *Pool) laneOf(n int64) (*lane, int64) {
	if n <= SmallBudget {
		return &p.small, n
	}
	return &p.large, min(n, p.large.size)
}

// PoolStats is the state of a pool.
type PoolStats struct {
	Size     int64 // bytes that can be reserved
	Used     int64 // bytes that are reserved
	Rejected int64 // reservations that have found no room so far
}

// Stats returns the state of the pool.
func (p *Pool) Stats() PoolStats {
	if p == nil {
		return PoolStats{}
	}
	return PoolStats{Size: p.size, Used: p.used.Load(), Rejected: p.rejected.Load()}
}

// Reservation is the memory that one request has reserved in a pool. The zero value has
// no pool and no limit. It is not safe for concurrent use.
type Reservation struct {
	pool  *Pool
	bytes int64
}

// NewReservation returns a reservation of zero bytes.
func (p *Pool) NewReservation() Reservation { return Reservation{pool: p} }

// Size returns how many bytes are reserved.
func (r *Reservation) Size() int64 { return r.bytes }

// Raise makes r a reservation of at least n bytes. It waits for room only if r is
// empty: requests that wait for more of a pool while holding part of it could
// deadlock. The errors are those of [Pool.Acquire], after which r is unchanged.
func (r *Reservation) Raise(ctx context.Context, n int64) error {
	if n <= r.bytes {
		return nil
	}
	return r.Resize(ctx, n)
}

// Resize is like Raise, but also frees the bytes beyond n.
func (r *Reservation) Resize(ctx context.Context, n int64) error {
	switch {
	case r.Try(n) || n < r.bytes: // if it cannot shrink, it is still large enough
		return nil
	case r.bytes > 0:
		return r.pool.reject()
	}
	if err := r.pool.Acquire(ctx, n); err != nil {
		return err
	}
	r.bytes = n
	return nil
}

// Try is like Resize, but never waits. It reports whether r now has n bytes; if not, r is
// unchanged.
func (r *Reservation) Try(n int64) bool {
	if n != r.bytes && !r.pool.exchange(r.bytes, n) {
		return false
	}
	r.bytes = n
	return true
}

// Release frees the reservation. It may be called more than once.
func (r *Reservation) Release() { r.Try(0) }
