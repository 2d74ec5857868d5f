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

// Raise makes r a reservation of n bytes, unless it is one of as many already. On an
// error, which is one of [Pool.Acquire], r holds nothing.
func (r *Reservation) Raise(ctx context.Context, n int64) error {
	if n <= r.bytes {
		return nil
	}
	// What is held goes back first: nobody may wait for room in a pool while holding
	// some of it.
	r.Release()
	if err := r.pool.Acquire(ctx, n); err != nil {
		return err
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
