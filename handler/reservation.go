package handler

import (
	"context"

	"github.com/guidonhq/guidon/handler/budget"
)

// reservation is the room in the budget that an answer over HTTP takes until the
// client has it. The zero value is none.
type reservation struct {
	pool *budget.Pool
	size int64
}

// resize makes the reservation one of size bytes, or returns why there is no room,
// and then it is none. Small answers need none.
func (r *reservation) resize(ctx context.Context, pool *budget.Pool, size int64) error {
	r.release()
	if size <= budget.Small {
		return nil
	}
	if err := pool.Acquire(ctx, size); err != nil {
		return err
	}
	r.pool, r.size = pool, size
	return nil
}

// try is resize that does not wait, and reports whether there was room.
func (r *reservation) try(pool *budget.Pool, size int64) bool {
	r.release()
	if !pool.TryAcquire(size) {
		return false
	}
	r.pool, r.size = pool, size
	return true
}

func (r *reservation) release() {
	if r.size > 0 {
		r.pool.Release(r.size)
	}
	*r = reservation{}
}
