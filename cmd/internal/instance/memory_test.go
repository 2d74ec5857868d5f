package instance

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestImportMemory(t *testing.T) {
	const mib = 1 << 20
	for limit, want := range map[int64]int64{math.MaxInt64: 384 * mib, 4000 * mib: 384 * mib, 450 * mib: 90 * mib} {
		func() {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
			if got := importMemory(); got != want {
				t.Errorf("with a limit of %d: got %d, want %d", limit, got, want)
			}
		}()
	}
}

// TestTurns: with the memory of the Helm chart, one heavy operation runs at a time.
func TestTurns(t *testing.T) {
	const mib = 1 << 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for limit, want := range map[int64]int{448 * mib: 1, 4096 * mib: 4, 64 << 10 * mib: 4, math.MaxInt64: 4} {
		func() {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
			b, got := newBudget(0), 0
			for range 10 {
				turn := b.Heavy.NewTurn()
				if turn.Begin(t.Context(), time.Millisecond) == nil {
					got++
				}
			}
			if got != want {
				t.Errorf("with a limit of %d: got %d turns, want %d", limit, got, want)
			}
		}()
	}
}

func TestRequestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name       string
		configured int
		limit      int64
		want       int64
	}{
		{"configured", 100, math.MaxInt64, 100 * mib},
		{"configured, whatever the limit", 100, 200 * mib, 100 * mib},
		{"no limit", 0, math.MaxInt64, 64 * mib},
		{"a fourteenth of the limit", 0, 1400 * mib, 100 * mib},
		{"the minimum for large requests", 0, 100 * mib, 32 * mib},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(test.limit))
			if got := requestMemory(test.configured); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
