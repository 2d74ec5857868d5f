package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/internal/clock"
)

func TestSleep(t *testing.T) {
	errGone := errors.New("the caller is gone")
	for _, test := range []struct {
		name    string
		d       time.Duration
		timeout time.Duration
		want    error
		after   time.Duration
	}{
		{"to its end", time.Minute, time.Hour, nil, time.Minute},
		{"until the context ends", time.Hour, time.Minute, context.DeadlineExceeded, time.Minute},
		{"not at all", 0, time.Hour, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), test.timeout, errGone)
				defer cancel()
				start := time.Now()
				if err := clock.Sleep(ctx, test.d); err != test.want {
					t.Errorf("got error %v, want %v", err, test.want)
				}
				if got := time.Since(start); got != test.after {
					t.Errorf("returned after %v, want %v", got, test.after)
				}
			})
		})
	}
}

func TestTick(t *testing.T) {
	before := time.Now()
	tick := clock.Tick()
	if d := time.Since(before); tick.Before(before) || tick.Sub(before) > d {
		t.Errorf("a tick %v after the time before it, want at most %v", tick.Sub(before), d)
	}
}

func TestJitter(t *testing.T) {
	const d = 100
	seen := map[time.Duration]bool{}
	for range 10_000 {
		got := clock.Jitter(d)
		if got < d/2 || got >= d+d/2 {
			t.Fatalf("got %d of %d, want 50 to 149", got, d)
		}
		seen[got] = true
	}
	if len(seen) != d {
		t.Errorf("%d different durations, want %d", len(seen), d)
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {90 * time.Minute, "1h30m"}, {24 * time.Hour, "24h"}, {time.Hour + 5*time.Second, "1h0m5s"},
		{10 * time.Minute, "10m"}, {100 * time.Second, "1m40s"}, {30 * time.Second, "30s"}, {1500 * time.Millisecond, "1.5s"},
		{-time.Hour, "-1h"}, {20 * time.Hour, "20h"}, {time.Minute + 500*time.Millisecond, "1m0.5s"},
	} {
		if got := clock.Text(test.d); got != test.want {
			t.Errorf("%d: got %q, want %q", test.d, got, test.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "1d12h": 36 * time.Hour, "0d": 0, "36h": 36 * time.Hour, "-1h": -time.Hour, "65535d": 65535 * day,
	} {
		if got, err := clock.ParseDuration(text); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d2", "1d2d", "65536d", "1 d", "+1d", "xd"} {
		if got, err := clock.ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
