package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/internal/clock"
)

// When a command shows its progress: at a terminal as a line that changes, and elsewhere as
// a line now and then. Short commands show nothing.
const (
	progressDelay    = time.Second
	progressInterval = 200 * time.Millisecond
	reportDelay      = 5 * time.Second
	reportInterval   = 10 * time.Second
)

// defaultWidth is the width of a terminal that does not say it.
const defaultWidth = 80

// progress shows how far a command is on its standard error. It is safe for concurrent use.
type progress struct {
	out      io.Writer
	drawn    bool // at a terminal, as one line that is erased
	unit     string
	began    time.Time
	quit     chan struct{}
	finished chan struct{}

	mu    sync.Mutex
	what  string
	done  int
	total int // 0 if unknown
	shown bool
}

// StartProgress starts showing progress of something, counted in units of which there are
// total, or 0 if that is unknown. stop ends it.
func (p *Program) StartProgress(what, unit string, total int) *progress {
	g := &progress{
		out: p.Err, drawn: p.Terminal(p.Err) && machine.Variable(p.Environ, "TERM") != "dumb",
		what: what, unit: unit, total: total, began: time.Now(), quit: make(chan struct{}), finished: make(chan struct{}),
	}
	go g.run()
	return g
}

func (g *progress) run() {
	defer close(g.finished)
	delay, interval := reportDelay, reportInterval
	if g.drawn {
		delay, interval = progressDelay, progressInterval
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-g.quit:
			return
		case <-timer.C:
			g.Hide(g.show)
			timer.Reset(interval)
		}
	}
}

// Expect sets the total, 0 if it is unknown.
func (g *progress) Expect(total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total = total
}

// Add adds to the count.
func (g *progress) Add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done += n
}

// At sets the count and the current step.
func (g *progress) At(done int, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done, g.what = done, what
}

// show writes a line. g.mu must be held.
func (g *progress) show() {
	line := g.text()
	if !g.drawn {
		fmt.Fprintln(g.out, line)
		return
	}
	g.shown = true
	fmt.Fprint(g.out, cut(line, g.width()-1)) // a full line would wrap
}

// text returns the progress in words, such as "importing: 20 of 50 objects (40%), 10/s, 3s
// left". Without a total, or as long as nothing is done, nothing is predicted.
func (g *progress) text() string {
	elapsed := time.Since(g.began)
	if g.done == 0 {
		amount := ""
		if g.total > 0 {
			amount = fmt.Sprintf(" %d %s,", g.total, g.unit)
		}
		return fmt.Sprintf("%s:%s %s so far", g.what, amount, clock.Text(elapsed.Round(time.Second)))
	}
	rate := float64(g.done) / elapsed.Seconds()
	if g.total == 0 {
		return fmt.Sprintf("%s: %d %s so far, %.3g/s", g.what, g.done, g.unit, rate)
	}
	text := fmt.Sprintf("%s: %d of %d %s (%d%%), %.3g/s", g.what, g.done, g.total, g.unit, 100*g.done/g.total, rate)
	if left := time.Duration(float64(g.total-g.done) / rate * float64(time.Second)); left > 0 {
		text += fmt.Sprintf(", %s left", clock.Text(left.Round(time.Second)))
	}
	return text
}

// width returns the width of the terminal.
func (g *progress) width() int {
	if f, ok := g.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 1 { // #nosec G115 -- a file descriptor
			return width
		}
	}
	return defaultWidth
}

// cut returns at most the first n characters of the text.
func cut(text string, n int) string {
	characters := []rune(text)
	return string(characters[:min(n, len(characters))])
}

// Hide erases the line and calls write, which may write to the terminal.
func (g *progress) Hide(write func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown {
		fmt.Fprint(g.out, "\r\x1b[K")
		g.shown = false
	}
	write()
}

// Stop erases the line and ends the progress. It may be called several times.
func (g *progress) Stop() {
	select {
	case <-g.finished:
		return
	default:
	}
	close(g.quit)
	<-g.finished
	g.Hide(func() {})
}
