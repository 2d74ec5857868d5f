package deliver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon/deliver"
)

// renewals are leases that can be renewed as the function says.
type renewals func() (bool, error)

func (renewals) AcquireLease(context.Context, string, string, time.Duration) (bool, error) {
	return true, nil
}

func (r renewals) RenewLease(context.Context, string, string, time.Duration) (bool, error) {
	return r()
}

func (renewals) ReleaseLease(context.Context, string, string) error { return nil }

// A lease is renewed before it ends, and losing it ends the work.
func TestLeaseRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 5
		begun, calls := time.Now(), 0
		leases := renewals(func() (bool, error) {
			if calls++; calls < most {
				return true, errors.New("unavailable")
			}
			return false, nil
		})
		l := deliver.Lease{Name: "job", Holder: "one", Time: time.Minute}
		held, err := deliver.WhileHeld(t.Context(), leases, l, func(time.Time) {}, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if held || err != nil {
			t.Errorf("got %t, %v, want that it is no longer held", held, err)
		}
		if each := time.Since(begun) / most; each > l.Time/3 {
			t.Errorf("the lease is renewed every %s, want several times before it ends", each)
		}
	})
}
