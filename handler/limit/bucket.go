package limit

import "time"

// Window is how long an empty bucket takes to fill.
const Window = 10 * time.Second

// Rate is how fast a bucket fills: the time for one use, or 0 if it is always full.
type Rate time.Duration

// PerSecond returns the rate of n uses per second; 0 means no limit.
func PerSecond(n int) Rate {
	if n <= 0 {
		return 0
	}
	return Rate(time.Second / time.Duration(n))
}

// Take returns when a bucket that is full again at the given time would be full if one use
// were taken out of it now, and whether there is one in it. A bucket is nothing but this
// time.
func (r Rate) Take(full, now time.Time) (after time.Time, ok bool) {
	if full.Before(now) {
		full = now
	}
	after = full.Add(time.Duration(r))
	return after, after.Sub(now) <= Window
}
