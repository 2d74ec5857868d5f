package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
)

func TestTurnsExclude(t *testing.T) {
	var all turns
	var wg sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)}
	for key, count := range counts {
		for range 8 {
			wg.Go(func() {
				for range 100 {
					q, err := all.take(&writer{ctx: t.Context()}, key, time.Minute)
					if err != nil {
						t.Error(err)
						return
					}
					*count++ // checked by the race detector
					all.end(q)
				}
			})
		}
	}
	wg.Wait()
	for key, count := range counts {
		if *count != 800 {
			t.Errorf("%s: got %d, want 800", key, *count)
		}
	}
	if len(all.queues) != 0 {
		t.Errorf("%d unused keys are stored", len(all.queues))
	}
}

func TestTurnsEnd(t *testing.T) {
	var all turns
	q, err := all.take(&writer{ctx: t.Context()}, "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.take(&writer{ctx: canceled}, "a", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := all.take(&writer{ctx: t.Context()}, "a", time.Millisecond); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
	all.end(q)
	if q, err = all.take(&writer{ctx: t.Context()}, "a", time.Minute); err != nil {
		t.Fatalf("after the release: %v", err)
	}
	all.end(q)
	if len(all.queues) != 0 {
		t.Errorf("%d unused keys are stored", len(all.queues))
	}
}
