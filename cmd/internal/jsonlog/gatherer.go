package jsonlog

import (
	"io"
	"sync"
	"time"
)

// The bounds of what a [Gatherer] does: how many lines it writes one by one before
// it gathers, and how much waits at most, in bytes.
const (
	maxEager   = 20
	maxWaiting = 64 << 10
)

// Gatherer writes the lines of a log that come in quick succession together: at
// thousands of them a second, one system call for each takes longer than everything
// else that is done about it.
//
// When more than a few lines come within the delay, the others wait until it is
// over, and then are written by one call; and so on for as long as it goes on.
// Warnings and errors are written at once, and with them whatever waits, so that the
// order is kept. A process that is killed loses no more than what waits.
//
// It may be used concurrently. A line that is written at once waits for the writer
// behind it, as it would without a Gatherer.
type Gatherer struct {
	out io.Writer

	mu      sync.Mutex
	delay   time.Duration // zero: nothing waits
	waiting []byte
	window  *time.Timer // until the delay is over; nil where no line came lately
	eager   int         // lines that were written one by one since then
}

// NewGatherer returns a Gatherer that writes to out. Without a delay it writes every
// line at once.
func NewGatherer(out io.Writer, delay time.Duration) *Gatherer {
	return &Gatherer{out: out, delay: delay}
}

// Write writes the line at once, after those that wait.
func (g *Gatherer) Write(line []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, line...)
	return len(line), g.flush()
}

// later writes a line that may wait.
func (g *Gatherer) later(line []byte) (int, error) {
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

// elapsed writes what has gathered during the delay, and waits for more where there
// was some.
func (g *Gatherer) elapsed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.window = nil
		return
	}
	_ = g.flush() // nobody could be told
	g.window.Reset(g.delay)
}

// flush writes what waits. g.mu is held.
func (g *Gatherer) flush() error {
	if len(g.waiting) == 0 {
		return nil
	}
	_, err := g.out.Write(g.waiting)
	if g.waiting = g.waiting[:0]; cap(g.waiting) > 2*maxWaiting {
		g.waiting = nil // one line was huge
	}
	return err
}

// Close writes what waits. From then on lines are written at once. It may be called
// twice.
func (g *Gatherer) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delay = 0
	if g.window != nil {
		g.window.Stop()
		g.window = nil
	}
	return g.flush()
}
