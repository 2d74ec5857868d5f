package instance

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// Console returns the handler for the log on a terminal, or nil if out is no terminal.
type Console func(out io.Writer, level slog.Level) slog.Handler

// OpenLog returns the configured logger, and a function that closes it. The logger
// writes to out if no file is configured. JSON lines may be delayed as by a
// [gatherer] with that delay.
func OpenLog(c config.Log, out io.Writer, console Console, delay time.Duration) (logger *slog.Logger, end func() error, err error) {
	closeFile := func() error { return nil }
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, nil, fmt.Errorf("log.file (GUIDON_LOG_FILE): %w", err)
		}
		out, closeFile = f, f.Close
	}
	level := LogLevel(c.Level)
	onTerminal := console(out, level)
	switch {
	case onTerminal != nil && c.Encoding != config.EncodingJSON:
		return slog.New(onTerminal), closeFile, nil
	case c.Encoding == config.EncodingConsole:
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), closeFile, nil
	}
	gathered := newGatherer(out, delay)
	return slog.New(newJSONHandler(gathered, level, c.Keys)), func() error { return errors.Join(gathered.Close(), closeFile()) }, nil
}

// LogLevel returns the level with the name. Flipt's panic and fatal, which only differ in
// how the process ends, are the same as error (operations 2.2).
func LogLevel(word string) slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(word)) != nil {
		return slog.LevelError
	}
	return level
}

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
