package failures

import "time"

// window is how long an empty bucket takes to fill.
const window = 10 * time.Second

// rate is how fast a bucket fills: the time for one failure, or 0 if it is always full.
type rate time.Duration

func rateOf(perSecond int) rate {
	if perSecond <= 0 {
		return 0
	}
	return rate(time.Second / time.Duration(perSecond))
}

// take returns when a bucket that is full again at the given time would be full if one
// failure were taken out of it now, and whether there is one in it. A bucket is nothing
// but this time.
func (r rate) take(full, now time.Time) (after time.Time, ok bool) {
	if full.Before(now) {
		full = now
	}
	after = full.Add(time.Duration(r))
	return after, after.Sub(now) <= window
}
