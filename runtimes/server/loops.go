package server

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
)

// Loop is work that is repeated while the server runs.
type Loop struct {
	Name     string        // for the log
	Interval time.Duration // between the end of one run and the start of the next
	// Run does the work once. It must return when ctx ends. Errors and panics are
	// logged, and the loop continues.
	Run func(ctx context.Context) error
}

// maxFirstDelay limits the delay of the first run of a loop. The delay is random so
// that instances started together do not query the database together.
const maxFirstDelay = time.Second

// runningLoops are loops that were started.
type runningLoops struct {
	cancel context.CancelFunc
	names  []string
	ended  []chan struct{} // closed when the loop with the name has ended
}

// startLoops starts the loops, which end when ctx ends or stop is called.
func startLoops(ctx context.Context, loops []Loop, logger *slog.Logger) *runningLoops {
	ctx, cancel := context.WithCancel(ctx)
	running := &runningLoops{cancel: cancel}
	for _, loop := range loops {
		ended := make(chan struct{})
		running.names, running.ended = append(running.names, loop.Name), append(running.ended, ended)
		go func() {
			defer close(ended)
			loop.repeat(ctx, logger)
		}()
	}
	return running
}

// stop ends the loops and waits for them until ctx ends. The error names the loops
// that are still running then.
func (r *runningLoops) stop(ctx context.Context) error {
	r.cancel()
	var left []string
	for i, ended := range r.ended {
		select {
		case <-ended:
			continue
		case <-ctx.Done():
		}
		select {
		case <-ended:
		default:
			left = append(left, r.names[i])
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("loops still running: %s", strings.Join(left, ", "))
	}
	return nil
}

// repeat runs the loop until ctx ends.
func (l Loop) repeat(ctx context.Context, logger *slog.Logger) {
	timer := time.NewTimer(rand.N(min(l.Interval/10, maxFirstDelay) + 1)) // #nosec G404 -- jitter, not a secret
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		l.runOnce(ctx, logger)
		timer.Reset(spread(l.Interval))
	}
}

// runOnce runs the work once. It logs errors and recovers from panics.
func (l Loop) runOnce(ctx context.Context, logger *slog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("loop panicked", "loop", l.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if err := l.Run(ctx); err != nil && ctx.Err() == nil {
		logger.Warn("loop failed", "loop", l.Name, "error", err)
	}
}

// spread returns the interval, changed at random by up to a tenth.
func spread(interval time.Duration) time.Duration {
	tenth := interval / 10
	return interval - tenth + rand.N(2*tenth+1) // #nosec G404 -- jitter, not a secret
}
