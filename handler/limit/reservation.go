package limit

import "context"

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
