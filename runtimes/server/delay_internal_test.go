package server

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/call"
)

// TestDelay checks that the delay is how long a goroutine waits for a processor while
// more goroutines are ready than there are processors. Current must report it even while
// the measurement is still waiting.
func TestDelay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d := NewDelay()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ended sync.WaitGroup
	ended.Go(func() { d.measure(ctx) })

	for range 20 {
		ended.Go(func() {
			for ctx.Err() == nil { // without ever waiting
			}
		})
	}
	for late := time.Now().Add(30 * time.Second); current(d) < 50*time.Millisecond; runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("the delay is %v while 20 goroutines share a processor", current(d))
		}
	}
	cancel()
	ended.Wait()
}

// current returns the delay without whether it is lasting.
func current(d *Delay) time.Duration {
	delay, _ := d.Current()
	return delay
}

// TestLastingLoad: an overload is lasting once requests have waited long for a second, and
// until they have not for as long.
func TestLastingLoad(t *testing.T) {
	const short, long = call.LastingWait / 2, 2 * call.LastingWait
	for _, test := range []struct {
		name   string
		delays []time.Duration // of measurements every 300 ms
		want   bool
	}{
		{"idle", []time.Duration{0, 0, 0, 0, 0, 0}, false},
		{"a burst", []time.Duration{0, long, long, long, 0}, false},
		{"a pause in between", []time.Duration{0, long, long, short, long, long, long}, false},
		{"overload", []time.Duration{0, long, long, long, long, long}, true},
		{"a moment of rest", []time.Duration{0, long, long, long, long, long, short, short}, true},
		{"the end", []time.Duration{0, long, long, long, long, long, short, short, short, short, short}, false},
	} {
		var l load
		for i, delay := range test.delays {
			ended := time.Duration(i) * 300 * time.Millisecond
			l.measured(ended-delay, ended)
		}
		if got := l.lasting.Load(); got != test.want {
			t.Errorf("%s: lasting %t, want %t", test.name, got, test.want)
		}
	}
}
