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
// the same cache. It reports the time of the read and the queries and loads per write.
func BenchmarkWriteThenRead(b *testing.B) {
	type cached interface {
		service.Store
		Stats() cache.Stats
	}
	for name, open := range map[string]func(source *source) cached{
		"single": func(s *source) cached { return cache.New(s) },
		"strict": func(s *source) cached { return cache.NewShared(s, cache.Freshness{MaxStale: time.Hour}) },
		"bounded": func(s *source) cached {
			return cache.NewShared(s, cache.Freshness{MaxAge: time.Second, MaxStale: time.Hour})
		},
	} {
		b.Run(name, func(b *testing.B) {
			c := open(newSource(b))
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
			before := c.Stats()
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
			after := c.Stats()
			b.ReportMetric(float64(reading.Microseconds())/float64(n), "µs/read")
			b.ReportMetric(float64(after.Loads-before.Loads)/float64(n), "loads/write")
			b.ReportMetric(float64(after.Reads-before.Reads)/float64(n), "queries/write")
		})
	}
}
