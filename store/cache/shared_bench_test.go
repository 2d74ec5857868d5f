package cache_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// An unchanged revision costs few allocations, even for a caller that is alone and
// bears the whole cost of the query.
func TestStrictAllocations(t *testing.T) {
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	ctx := t.Context()
	n := testing.AllocsPerRun(1000, func() { _, _, _ = s.Snapshot(ctx, "a", service.Demand{}) })
	own := testing.AllocsPerRun(1000, func() { _, _ = f.Heads(ctx, []string{"a"}) })
	if n-own > 20 {
		t.Errorf("%v allocations besides the %v of the source, want at most 20", n-own, own)
	}
}

// A state in memory that is recent enough costs next to nothing.
func TestBoundedHitsDoNotAllocate(t *testing.T) {
	s := cache.NewShared(newFake(), cache.Freshness{MaxAge: time.Hour, MaxStale: time.Hour})
	ctx, d := t.Context(), service.Demand{Begun: time.Now(), MayBeStale: true}
	read := func() {
		_, _, _ = s.Authentications(ctx, d, "a")
		_, _, _ = s.Snapshot(ctx, "a", d)
	}
	read()
	if n := testing.AllocsPerRun(1000, read); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkBoundedHit(b *testing.B) {
	s := cache.NewShared(newFake(), cache.Freshness{MaxAge: time.Hour})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := b.Context()
		for pb.Next() {
			if _, _, err := s.Snapshot(ctx, "a", service.Demand{}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkStrict runs 128 concurrent requests against a database that takes 200 µs.
func BenchmarkStrict(b *testing.B) {
	f := newFake()
	f.headsHook = func(context.Context, []string) error {
		for start := time.Now(); time.Since(start) < 200*time.Microsecond; { // a sleep may take a millisecond
			runtime.Gosched()
		}
		return nil
	}
	s := cache.NewShared(f, cache.Freshness{})
	ctx := b.Context()
	b.ReportAllocs()
	start := time.Now()
	const clients = 128
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for range (b.N + i) / clients {
				if _, _, err := s.Snapshot(ctx, "a", service.Demand{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	seconds := time.Since(start).Seconds()
	b.ReportMetric(float64(b.N)/seconds, "requests/s")
	b.ReportMetric(float64(len(f.queried))/seconds, "reads/s")
	b.ReportMetric(float64(f.highest[""]), "at-once")
}
