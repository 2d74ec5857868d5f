package server

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// delayPeriod is the time between two measurements of a [Delay].
const delayPeriod = 20 * time.Millisecond

// Delay measures the scheduling delay: how long goroutines that are ready to run wait
// for a processor. Under overload that is where requests queue, before any of their
// code has run. Its methods are safe for concurrent use.
type Delay struct {
	epoch time.Time
	began atomic.Int64 // start of the measurement in progress, since epoch; 0 if there is none
	last  atomic.Int64 // the result of the last one
}

// NewDelay returns a delay that is zero until [Run] measures it.
func NewDelay() *Delay { return &Delay{epoch: time.Now()} }

// Current returns the last delay measured, or the time that the measurement in progress
// has taken so far if that is longer.
func (d *Delay) Current() time.Duration {
	last := time.Duration(d.last.Load())
	if began := d.began.Load(); began != 0 {
		return max(last, time.Since(d.epoch)-time.Duration(began))
	}
	return last
}

// measure measures the delay repeatedly until ctx ends. A goroutine that yields runs
// again after the goroutines that were ready before it.
func (d *Delay) measure(ctx context.Context) {
	ticker := time.NewTicker(delayPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		began := time.Since(d.epoch)
		d.began.Store(int64(began))
		runtime.Gosched()
		d.last.Store(int64(time.Since(d.epoch) - began))
		d.began.Store(0)
	}
}
