package cache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// BenchmarkWriteThenRead changes one flag of a thousand and reads the namespace through
// the same cache. It reports the time of the read and the calls of the source per write.
func BenchmarkWriteThenRead(b *testing.B) {
	for name, open := range map[string]func(source *source) service.Store{
		"single": func(s *source) service.Store { return cache.New(s) },
		"strict": func(s *source) service.Store { return cache.NewShared(s, cache.Freshness{MaxStale: time.Hour}) },
		"bounded": func(s *source) service.Store {
			return cache.NewShared(s, cache.Freshness{MaxAge: time.Second, MaxStale: time.Hour})
		},
	} {
		b.Run(name, func(b *testing.B) {
			source := newSource(b)
			c := open(source)
			_, err := c.Update(b.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
				for i := range 1000 {
					if err := tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprint("flag-", i), Name: "Flag"}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			get(b, c, "default")
			before := source.total()
			var reading time.Duration
			n := 0
			for b.Loop() {
				_, err := c.Update(b.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
					return tx.PutFlag(ctx, &guidon.Flag{Key: "flag-0", Name: fmt.Sprint(n)})
				})
				if err != nil {
					b.Fatal(err)
				}
				begin := time.Now()
				get(b, c, "default")
				reading += time.Since(begin)
				n++
			}
			b.ReportMetric(float64(reading.Microseconds())/float64(n), "µs/read")
			b.ReportMetric(float64(source.total()-before)/float64(n), "calls/write")
		})
	}
}
