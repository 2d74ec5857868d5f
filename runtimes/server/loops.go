package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
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

// loopGroup keeps track of the running loops.
type loopGroup struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed when the last one has ended
	mu      sync.Mutex
	running map[string]int
}

// startLoops starts the loops, which end when ctx ends or stop is called.
func startLoops(ctx context.Context, loops []Loop, logger *slog.Logger) *loopGroup {
	ctx, cancel := context.WithCancel(ctx)
	g := &loopGroup{cancel: cancel, done: make(chan struct{}), running: map[string]int{}}
	var wait sync.WaitGroup
	for _, loop := range loops {
		g.running[loop.Name]++
		wait.Go(func() {
			defer g.ended(loop.Name)
			loop.repeat(ctx, logger)
		})
	}
	go func() {
		wait.Wait()
		close(g.done)
	}()
	return g
}

// stop ends the loops and waits for them until ctx ends. The error names the loops
// that are still running then.
func (g *loopGroup) stop(ctx context.Context) error {
	g.cancel()
	select {
	case <-g.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("loops still running: %s", strings.Join(g.left(), ", "))
	}
}

func (g *loopGroup) ended(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[name]--; g.running[name] == 0 {
		delete(g.running, name)
	}
}

func (g *loopGroup) left() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.running))
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
