package deliver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// Leases is what [WhileHeld] needs of the database.
type Leases interface {
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (acquired bool, err error)
	RenewLease(ctx context.Context, name, holder string, ttl time.Duration) (renewed bool, err error)
	ReleaseLease(ctx context.Context, name, holder string) error
}

// Lease is a lease that a process asks for.
type Lease struct {
	Name, Holder string
	Time         time.Duration // after a process was killed, others wait for at most this time
}

// releaseTime limits how long it may take to release a lease.
const releaseTime = 5 * time.Second

// WhileHeld calls fn while the lease is held, which it renews several times in its duration, and reports whether it
// was. extended is called with the time from which the lease lasts again. If another process takes the lease over,
// the context of fn ends, and so does fn with an error, which is dropped. An error of renewing is ignored: the next
// attempt may succeed, and fn would meet the cause too.
func WhileHeld(
	ctx context.Context, db Leases, l Lease, extended func(begun time.Time), fn func(ctx context.Context) error,
) (held bool, err error) {
	begun := time.Now()
	if held, err = db.AcquireLease(ctx, l.Name, l.Holder, l.Time); err != nil || !held {
		return false, err
	}
	extended(begun)
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for clock.Sleep(working, l.Time/3) == nil {
			begun := time.Now()
			switch renewed, err := db.RenewLease(working, l.Name, l.Holder, l.Time); {
			case renewed:
				extended(begun)
			case err == nil:
				held = false
				cancel()
			}
		}
	})
	err = fn(working)
	cancel()
	renewing.Wait()
	if held = held || err == nil; !held {
		err = nil
	}
	// Release it even if ctx has ended, so that other processes need not wait.
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer done()
	return held, errors.Join(err, db.ReleaseLease(bounded, l.Name, l.Holder))
}
