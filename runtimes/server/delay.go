package server

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/handler/call"
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
	load  load
}

// load tells lasting overload from bursts.
type load struct {
	lasting atomic.Bool
	since   time.Duration // when measurements began to contradict lasting, since epoch
}

// lastingAfter is how long the delay must be above or below [call.LastingWait] for the
// overload to be lasting or to have ended. It is longer than most bursts.
const lastingAfter = time.Second

// measured adds a measurement from began to ended.
func (l *load) measured(began, ended time.Duration) {
	if (ended-began > call.LastingWait) == l.lasting.Load() {
		l.since = ended
	} else if ended-l.since >= lastingAfter {
		l.lasting.Store(!l.lasting.Load())
		l.since = ended
	}
}

// NewDelay returns a delay that is zero until [Run] measures it.
func NewDelay() *Delay { return &Delay{epoch: time.Now()} }

// Current returns the last delay measured, or the time that the measurement in progress
// has taken so far if that is longer, and whether it has been long for a while.
func (d *Delay) Current() (delay time.Duration, lasting bool) {
	delay, lasting = time.Duration(d.last.Load()), d.load.lasting.Load()
	if began := d.began.Load(); began != 0 {
		delay = max(delay, time.Since(d.epoch)-time.Duration(began))
	}
	return delay, lasting || delay >= lastingAfter
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
		ended := time.Since(d.epoch)
		d.last.Store(int64(ended - began))
		d.began.Store(0)
		d.load.measured(began, ended)
	}
}
