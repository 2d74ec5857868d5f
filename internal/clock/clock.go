// Package clock waits, measures and formats durations.
package clock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// epoch is when the process started.
var epoch = time.Now()

// Tick returns the current time for measuring durations. It costs half as much as
// [time.Now] because it reads only the monotonic clock, so the wall clock of its result
// ignores changes that were made to it since the process started.
func Tick() time.Time { return epoch.Add(time.Since(epoch)) }

// Sleep waits for d. It returns the context's error if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Jitter returns a random duration from half of d up to one and a half of it, so that
// processes that collided do not collide again. d must be positive.
func Jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d) // #nosec G404 -- not a secret
}

// Text formats a duration like its method String, but without trailing units that are zero:
// 1h30m, not 1h30m0s.
func Text(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// ParseDuration is [time.ParseDuration] for a duration that may begin with days of 24 hours, such
// as 90d or 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16) // up to 179 years
	if err != nil {
		return 0, fmt.Errorf("invalid duration %q", text)
	}
	d := time.Duration(0)
	if rest != "" {
		d, err = time.ParseDuration(rest)
	}
	return time.Duration(n)*24*time.Hour + d, err // #nosec G115 -- 16 bits
}
