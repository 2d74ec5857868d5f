package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A command that takes longer than progressDelay shows its progress at a terminal.
const (
	progressDelay    = time.Second
	progressInterval = 200 * time.Millisecond
)

// progress is a line on the terminal that shows the progress of a command. It is safe
// for concurrent use.
type progress struct {
	out  io.Writer
	what string
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	objects int
	bytes   int64
	shown   bool
}

// startProgress starts showing progress; stop ends it.
func (p *program) startProgress(what string) *progress {
	g := &progress{out: p.err, what: what, quit: make(chan struct{}), done: make(chan struct{})}
	if !p.terminal(p.err) {
		close(g.done)
		return g
	}
	go g.run()
	return g
}

func (g *progress) run() {
	defer close(g.done)
	timer := time.NewTimer(progressDelay)
	defer timer.Stop()
	for {
		select {
		case <-g.quit:
			return
		case <-timer.C:
			g.hide(g.show)
			timer.Reset(progressInterval)
		}
	}
}

// add adds to the counts shown.
func (g *progress) add(objects, bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.objects += objects
	g.bytes += int64(bytes)
}

// show writes the line. g.mu must be held.
func (g *progress) show() {
	g.shown = true
	fmt.Fprintf(g.out, "%s: %d objects", g.what, g.objects)
	if g.bytes > 0 {
		fmt.Fprintf(g.out, ", %.1f MB", float64(g.bytes)/1e6)
	}
	fmt.Fprint(g.out, " so far")
}

// hide erases the line and calls write, which may write to the terminal.
func (g *progress) hide(write func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown {
		fmt.Fprint(g.out, "\r\x1b[K")
		g.shown = false
	}
	write()
}

// stop erases the line and ends the progress.
func (g *progress) stop() {
	close(g.quit)
	<-g.done
	g.hide(func() {})
}
