package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

// These tests run in synctest bubbles, whose clock lets them wait for hours without
// taking any time.

func TestLoopRunsAtStartAndThenEveryInterval(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		start := time.Now()
		var runs []time.Duration
		g := startLoops(t.Context(), []Loop{{Name: "cleanup", Interval: time.Hour, Run: func(context.Context) error {
			runs = append(runs, time.Since(start))
			return nil
		}}}, slog.New(slog.DiscardHandler))
		time.Sleep(4*time.Hour + 30*time.Minute)
		if err := g.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(runs) < 4 || runs[0] > maxFirstDelay {
			t.Fatalf("runs at %v, want the first within %v and one an hour", runs, maxFirstDelay)
		}
		for i := 1; i < len(runs); i++ {
			if gap := runs[i] - runs[i-1]; gap < 54*time.Minute || gap > 66*time.Minute {
				t.Errorf("gap %d is %v, want an hour plus or minus a tenth", i, gap)
			}
		}
	})
}

// A loop that fails or panics is logged by name and continues. A panic must never end
// the process.
func TestLoopSurvivesErrorsAndPanics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		runs := 0
		g := startLoops(t.Context(), []Loop{{Name: "cleanup", Interval: time.Minute, Run: func(context.Context) error {
			runs++
			switch runs {
			case 1:
				return errors.New("the database is unavailable")
			case 2:
				panic("a bug")
			}
			return nil
		}}}, slog.New(slog.NewTextHandler(&log, nil)))
		time.Sleep(10 * time.Minute)
		if err := g.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if runs < 8 {
			t.Errorf("%d runs in ten minutes, want the loop to continue", runs)
		}
		for _, want := range []string{"loop=cleanup", "the database is unavailable", "a bug"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, log.String())
			}
		}
	})
}

// The stop interrupts a run through its context and does not log that as a failure.
func TestLoopStopsInTheMiddleOfARun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := startLoops(t.Context(), []Loop{{Name: "cleanup", Interval: time.Hour, Run: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}}, slog.New(slog.NewTextHandler(&log, nil)))
		time.Sleep(time.Minute)
		if err := g.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if log.Len() > 0 {
			t.Errorf("the log has %s, want nothing", log.String())
		}
	})
}

// A loop that ignores its context does not delay the stop forever.
func TestLoopThatDoesNotStopIsNamed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		g := startLoops(t.Context(), []Loop{{Name: "stuck", Interval: time.Hour, Run: func(context.Context) error {
			<-release
			return nil
		}}}, slog.New(slog.DiscardHandler))
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), loopTimeout)
		defer cancel()
		err := g.stop(ctx)
		if err == nil || !strings.Contains(err.Error(), "stuck") {
			t.Errorf("got %v, want an error that names the loop", err)
		}
	})
}
