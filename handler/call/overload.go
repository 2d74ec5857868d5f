package call

import (
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// OverloadConfig configures when requests are rejected instead of queued.
type OverloadConfig struct {
	// Delay returns how long a request that starts now has waited for a processor, and
	// whether requests have been waiting for longer than [LastingWait] for a while. It is
	// safe for concurrent use.
	Delay func() (delay time.Duration, lasting bool)
	// Share is the part of its timeout that a request may have waited.
	Share float64
}

// minWait is how long every request may have waited, however short its timeout: a
// garbage collection must not cause rejections.
const minWait = 50 * time.Millisecond

// LastingWait is how long a request may have waited if the load is not a burst, because
// requests have been waiting for longer for a while. A request waits for a processor several
// times (until its connection is accepted, and each part of it is read), so its caller waits
// for a multiple of this.
const LastingWait = 200 * time.Millisecond

// checkLoad returns Unavailable for a request that has waited too long: its caller
// would probably give up before the response, and others wait behind it.
func (i *Invoker) checkLoad(ctx context.Context) error {
	overload := i.config.Overload
	if overload == nil {
		return nil
	}
	delay, lasting := overload.Delay()
	if delay <= minWait { // nearly always
		return nil
	}
	timeout := i.config.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	longest := time.Duration(overload.Share * float64(timeout))
	if lasting {
		longest = min(longest, LastingWait)
	}
	if delay <= longest {
		return nil
	}
	return guidon.Errorf(guidon.Unavailable, "the service is overloaded: requests wait for %s; try again later",
		clock.Text(delay.Round(time.Millisecond)))
}
