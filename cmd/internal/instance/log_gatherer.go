package instance

import (
	"io"
	"sync"
	"time"
)

// Limits of a [gatherer]: how many lines it writes individually before it starts to
// gather, and how many bytes may wait.
const (
	maxEager   = 20
	maxWaiting = 64 << 10
)

// gatherer writes log lines that arrive in quick succession together. At thousands of
// lines a second, a system call for each would take longer than all other work on it.
//
// If more than a few lines arrive within the delay, the others wait until its end and
// are written by a single call. This is repeated while lines keep arriving. Warnings and
// errors are written immediately, after all waiting lines, so that the order is kept. A
// process that is killed loses only the waiting lines.
//
// It is safe for concurrent use. A line that is written immediately blocks until the
// underlying writer returns.
type gatherer struct {
	out io.Writer

	mu      sync.Mutex
	delay   time.Duration // zero: nothing waits
	waiting []byte
	window  *time.Timer // ends the current delay; nil if no line has arrived recently
	eager   int         // lines written individually since the window started
}

// newGatherer returns a gatherer that writes to out. If delay is zero, it writes every
// line immediately.
func newGatherer(out io.Writer, delay time.Duration) *gatherer {
	return &gatherer{out: out, delay: delay}
}

// Write writes the line immediately, after the waiting ones.
func (g *gatherer) Write(line []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, line...)
	return len(line), g.flush()
}

// later writes a line that may wait.
func (g *gatherer) later(line []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, line...)
	if g.delay == 0 {
		return len(line), g.flush()
	}
	if g.window == nil {
		g.window, g.eager = time.AfterFunc(g.delay, g.elapsed), 0
	}
	if g.eager == maxEager && len(g.waiting) < maxWaiting {
		return len(line), nil
	}
	g.eager = min(g.eager+1, maxEager)
	return len(line), g.flush()
}

// elapsed writes the lines gathered during the delay, and starts another delay if there
// were any.
func (g *gatherer) elapsed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.window = nil
		return
	}
	_ = g.flush() // no caller could be given the error
	g.window.Reset(g.delay)
}

// flush writes the waiting lines. g.mu must be held.
func (g *gatherer) flush() error {
	if len(g.waiting) == 0 {
		return nil
	}
	_, err := g.out.Write(g.waiting)
	if g.waiting = g.waiting[:0]; cap(g.waiting) > 2*maxWaiting {
		g.waiting = nil // release the memory of a huge line
	}
	return err
}

// Close writes the waiting lines. Further lines are written immediately. It may be
// called twice.
func (g *gatherer) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delay = 0
	if g.window != nil {
		g.window.Stop()
		g.window = nil
	}
	return g.flush()
}
