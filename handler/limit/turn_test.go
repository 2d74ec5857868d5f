package limit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/limit"
)

// TestTurn: requests take turns, each begins one at most, and nobody waits for ever.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heavy := limit.NewBudget(8 << 20).Heavy.WithTurns(2)
		var turns [4]limit.Turn
		for i := range turns {
			turns[i] = heavy.NewTurn()
		}
		if got := turns[0].Room(); got != 24<<20 {
			t.Errorf("got room for %d bytes, want %d", got, 24<<20)
		}
		for range 2 { // the second time takes nothing
			for i := range 2 {
				if err := turns[i].Begin(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := turns[2].Begin(t.Context(), time.Second); !errors.Is(err, guidon.Unavailable) || turns[2].Begun() {
			t.Errorf("a third turn: got %v, want Unavailable", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := turns[2].Begin(ended, time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller has gone: got %v, want %v", err, context.Canceled)
		}
		began := make(chan error)
		go func() { began <- turns[3].Begin(t.Context(), time.Second) }()
		synctest.Wait()
		turns[0].End()
		turns[0].End() // has no effect
		if err := <-began; err != nil {
			t.Errorf("a turn after another one: %v", err)
		}
		if err := turns[2].Begin(t.Context(), time.Second); !errors.Is(err, guidon.Unavailable) {
			t.Errorf("one more: got %v, want Unavailable", err)
		}
	})
}
