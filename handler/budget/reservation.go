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

// Size returns how many bytes are reserved.
func (r *Reservation) Size() int64 { return r.bytes }

// Raise makes r a reservation of n bytes, unless it is one of as many already. Only
// the first raise waits for room: those that hold some of a pool and wait for more would
// wait for each other. The errors are those of [Pool.Acquire]; r is then as before.
func (r *Reservation) Raise(ctx context.Context, n int64) error {
	if n <= r.bytes {
		return nil
	}
	return r.Resize(ctx, n)
}

// Resize is Raise that also gives back what exceeds n bytes.
func (r *Reservation) Resize(ctx context.Context, n int64) error {
	switch {
	case r.Try(n) || n < r.bytes: // which is more than enough
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

// Try is Resize that never waits. It reports whether r is now of n bytes; if not, r is
// as before.
func (r *Reservation) Try(n int64) bool {
	if n != r.bytes && !r.pool.exchange(r.bytes, n) {
		return false
	}
	r.bytes = n
	return true
}

// Release gives back what is reserved. It may be called again.
func (r *Reservation) Release() { r.Try(0) }
