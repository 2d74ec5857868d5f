package bubble_test

import (
	"context"
	"testing"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

// TestTimersTogether fires many timers at the same instant. In parallel, that crashes
// the race detector in every few runs.
func TestTimersTogether(t *testing.T) {
	for range 20 {
		bubble.Test(t, func(t *testing.T) {
			end := time.Now().Add(200 * time.Millisecond)
			for range 8 {
				go func() {
					for time.Now().Before(end) {
						timer := time.NewTimer(time.Millisecond)
						time.Sleep(time.Millisecond)
						<-timer.C
						ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
						<-ctx.Done()
						cancel()
					}
				}()
			}
			time.Sleep(time.Second)
		})
	}
}
