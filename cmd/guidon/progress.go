package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// What takes longer than progressDelay shows how far it is, at a terminal.
const (
	progressDelay    = time.Second
	progressInterval = 200 * time.Millisecond
)

// progress is a line on the terminal that says how far a command is. Its
// methods may be called concurrently.
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

// startProgress shows the progress of the work from now on, until stop.
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

// add counts what has been done.
func (g *progress) add(objects, bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.objects += objects
	g.bytes += int64(bytes)
}

// show writes the line. The caller holds the lock.
func (g *progress) show() {
	g.shown = true
	fmt.Fprintf(g.out, "%s: %d objects", g.what, g.objects)
	if g.bytes > 0 {
		fmt.Fprintf(g.out, ", %.1f MB", float64(g.bytes)/1e6)
	}
	fmt.Fprint(g.out, " so far")
}

// hide takes the line away and calls write, which may use the terminal.
func (g *progress) hide(write func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown {
		fmt.Fprint(g.out, "\r\x1b[K")
		g.shown = false
	}
	write()
}

// stop takes the line away for good.
func (g *progress) stop() {
	close(g.quit)
	<-g.done
	g.hide(func() {})
}
