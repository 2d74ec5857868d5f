package budget

import "context"

// Reservation is what one request has reserved in a pool. The zero value has no pool
// and no limit. It is not safe for concurrent use.
type Reservation struct {
	pool  *Pool
	bytes int64
}

// NewReservation returns a reservation of nothing yet.
func (p *Pool) NewReservation() Reservation { return Reservation{pool: p} }

// Raise makes r a reservation of n bytes, unless it is one of as many already. Only
// the first raise waits for room: those that hold some of a pool and wait for more would
// wait for each other. The errors are those of [Pool.Acquire]; r is then as before.
func (r *Reservation) Raise(ctx context.Context, n int64) error {
	switch {
	case n <= r.bytes:
		return nil
	case r.bytes == 0:
		if err := r.pool.Acquire(ctx, n); err != nil {
			return err
		}
	case !r.pool.tryRaise(r.bytes, n):
		return r.pool.reject()
	}
	r.bytes = n
	return nil
}

// Release gives back what is reserved. It may be called again.
func (r *Reservation) Release() {
	if r.bytes > 0 {
		r.pool.Release(r.bytes)
		r.bytes = 0
	}
}
