package instance

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/internal/bubble"
)

const delay = 10 * time.Millisecond

// calls is a writer that records the messages of each call of Write.
type calls struct {
	mu   sync.Mutex
	list []string
}

func (c *calls) Write(lines []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var messages []string
	for line := range strings.Lines(string(lines)) {
		_, message, _ := strings.Cut(line, `"M":"`)
		message, _, _ = strings.Cut(message, `"`)
		messages = append(messages, message)
	}
	c.list = append(c.list, strings.Join(messages, " "))
	return len(lines), nil
}

// take returns the calls since the last take.
func (c *calls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	return list
}

// TestGatherer checks which lines are written together, and when.
func TestGatherer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		out := new(calls)
		g := newGatherer(out, delay)
		logger := slog.New(newJSONHandler(g, slog.LevelInfo, keys))
		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, out.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}

		var want []string
		for i := range maxEager {
			want = append(want, fmt.Sprint(i))
			logger.Info(want[i])
		}
		expect("the first lines", want...)
		logger.Info("second")
		logger.Info("third", "escaped", "\n")
		expect("a line of the general handler", "second third")
		logger.Info("fourth")
		time.Sleep(delay - 1)
		logger.Info("fifth")
		expect("before the delay is over")
		time.Sleep(time.Nanosecond)
		expect("after it", "fourth fifth")
		logger.Info("sixth")
		logger.Warn("warning")
		expect("a warning", "sixth warning")
		logger.Error("error")
		expect("an error", "error")
		logger.Info("seventh")
		expect("before the second delay is over")
		time.Sleep(delay + 1)
		expect("after that", "seventh")
		time.Sleep(delay + 1)
		logger.Info("after a pause")
		logger.Info("and another")
		expect("after a pause", "after a pause", "and another")
		for range maxEager {
			logger.Info("more")
		}
		out.take()
		logger.Info("last")
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		expect("when closed", "more more last")
		logger.Info("late")
		logger.Info("later")
		expect("after that", "late", "later")
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		expect("when closed again")
	})
}

// TestGathererIsBounded: lines that arrive faster than they are written do not fill the
// memory, are not lost and keep their order.
func TestGathererIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		out := new(calls)
		g := newGatherer(out, delay)
		logger := slog.New(newJSONHandler(g, slog.LevelInfo, keys))
		const lines = 1000
		var want []string
		for i := range lines {
			want = append(want, fmt.Sprint(i))
			logger.Info(want[i], "filler", strings.Repeat("x", 300))
		}
		written := out.take()
		if got := len(strings.Fields(strings.Join(written, " "))); got < lines-250 || len(written) > maxEager+10 {
			t.Errorf("got %d lines written by %d calls", got, len(written))
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, strings.Fields(strings.Join(append(written, out.take()...), " "))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestGathererConcurrent: no lines of concurrent writers are lost.
func TestGathererConcurrent(t *testing.T) {
	out := new(calls)
	g := newGatherer(out, time.Microsecond)
	logger := slog.New(newJSONHandler(g, slog.LevelInfo, keys))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 500 {
				logger.Log(context.Background(), slog.Level(i%2*int(slog.LevelWarn)), "line")
			}
		})
	}
	wait.Wait()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if got := len(strings.Fields(strings.Join(out.take(), " "))); got != 8*500 {
		t.Errorf("%d lines, want %d", got, 8*500)
	}
}
