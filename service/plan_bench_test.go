package service_test

import (
	"testing"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// BenchmarkPlan plans a document of 10,000 flags that is equal to the namespace, and the
// promotion of one flag into that namespace.
func BenchmarkPlan(b *testing.B) {
	s := service.NewService(cache.New(newStore(b)), time.Now)
	flags, segments := flagtest.NewSource(1).State(10_000)
	d := service.DocumentOf("shop", change.Objects{Flags: flags, Segments: segments})
	for _, namespace := range []string{"shop", "staging"} {
		d.Namespace.Key = namespace
		if _, _, err := s.Import(b.Context(), service.Write{}, namespace, d, service.ImportCreate, false); err != nil {
			b.Fatal(err)
		}
	}
	d.Namespace.Key = "shop"
	for name, r := range map[string]service.PlanRequest{
		"document": {Namespace: "shop", Document: d, Mode: service.ImportReplace},
		"flag":     {Namespace: "shop", Source: "staging", Flags: []string{flags[0].Key}, Mode: service.ImportUpdate},
	} {
		plan := func(b *testing.B) *service.Plan {
			p, _, err := s.Plan(b.Context(), service.Caller{}, service.Demand{}, r, nil)
			if err != nil || len(p.Changes) > 0 {
				b.Fatalf("got %v, %v", p, err)
			}
			return p
		}
		b.Run("plan a "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plan(b)
			}
		})
		b.Run("apply a "+name, func(b *testing.B) {
			expected := service.ExpectedPlan{Digest: plan(b).Digest}
			for b.Loop() {
				if _, _, err := s.Apply(b.Context(), service.Write{}, service.Demand{}, r, expected, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
