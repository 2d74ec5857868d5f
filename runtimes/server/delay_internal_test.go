package server

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
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
	for late := time.Now().Add(30 * time.Second); d.Current() < 50*time.Millisecond; runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("the delay is %v while 20 goroutines share a processor", d.Current())
		}
	}
	cancel()
	ended.Wait()
}
