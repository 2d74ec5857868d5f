package service_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// largeNamespace returns a namespace of so many flags and 500 segments, with descriptions
// and metadata of usual length.
func largeNamespace(flags int) *guidon.Snapshot {
	const segments = 500
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var allSegments []*guidon.Segment
	for i := range segments {
		allSegments = append(allSegments, &guidon.Segment{
			Key: fmt.Sprintf("segment-%d", i), Name: fmt.Sprintf("Segment %d", i), UpdatedAt: at.Add(time.Duration(i*7919%segments) * time.Hour),
			Constraints: []*guidon.Constraint{
				{ID: "1", Type: guidon.StringComparison, Property: fmt.Sprintf("p%d", i%40), Operator: guidon.OpIsOneOf, Value: fmt.Sprintf(`["a%d","b","c"]`, i)},
				{ID: "2", Type: guidon.NumberComparison, Property: "age", Operator: guidon.OpGT, Value: fmt.Sprint(i % 90)},
			},
		})
	}
	var all []*guidon.Flag
	for i := range flags {
		f := &guidon.Flag{
			Key: fmt.Sprintf("checkout-step-%d", i*7919%flags), Name: fmt.Sprintf("Checkout step %d of the shop", i), Type: guidon.FlagType(i % 2), Enabled: i%3 == 0,
			Description: "Shows the new form for addresses with suggestions from the map, in all countries where there is one.",
			Metadata:    json.RawMessage(fmt.Sprintf(`{"owner":"team-%d","review":"2027-01-%02d","tags":["area-%d","experiment"],"ticket":"SHOP-%d"}`, i%50, 1+i%28, i%80, i)),
			Created:     guidon.Position{Revision: 1, Sequence: int32(i)},
			CreatedAt:   at.Add(time.Duration(i) * time.Minute), UpdatedAt: at.Add(time.Duration(i*104729%flags) * time.Minute),
		}
		if f.Type == guidon.BooleanFlag {
			f.Rollouts = []*guidon.Rollout{
				{ID: "1", Segment: &guidon.RolloutSegment{SegmentKeys: []string{fmt.Sprintf("segment-%d", i%segments)}, Value: true}},
				{ID: "2", Threshold: &guidon.RolloutThreshold{Percentage: float32(i % 101), Value: true}},
			}
		} else {
			f.Variants = []*guidon.Variant{{ID: "a", Key: "classic"}, {ID: "b", Key: "new"}}
			f.DefaultVariantID = "a"
			f.Rules = []*guidon.Rule{{ID: "1", SegmentKeys: []string{fmt.Sprintf("segment-%d", i%segments), fmt.Sprintf("segment-%d", (i+1)%segments)}, Distributions: []*guidon.Distribution{
				{ID: "1", VariantID: "a", Rollout: 50}, {ID: "2", VariantID: "b", Rollout: 50},
			}}}
		}
		all = append(all, f)
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "shop", Name: "Shop"}, guidon.Revision{Number: 1}, all, allSegments)
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCatalog measures lists and counts of 10,000 flags.
func BenchmarkCatalog(b *testing.B) {
	v := service.View{Snapshot: largeNamespace(10_000)}
	flags := func(q service.FlagQuery) func() error {
		return func() error {
			_, err := v.FlagSummaries(q)
			return err
		}
	}
	if err := flags(service.FlagQuery{})(); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		run  func() error
	}{
		{"page", flags(service.FlagQuery{})},
		{"last page", flags(service.FlagQuery{Sort: service.FlagsByChange, Descending: true, Window: service.Window{Offset: 9_800, Limit: 200}})},
		{"word", flags(service.FlagQuery{Text: "step 77"})},
		{"word that does not occur", flags(service.FlagQuery{Text: "chekout"})},
		{"letters that are not ASCII", flags(service.FlagQuery{Text: "größe"})},
		{"terms", flags(service.FlagQuery{Text: "owner:team-7 tag:experiment is:partly is:on"})},
		{"unused", func() error {
			_, err := v.UnusedFlags(b.Context(), service.UnusedQuery{})
			return err
		}},
		{"segments", func() error {
			_, err := v.SegmentSummaries(service.SegmentQuery{Text: "segment 4", Sort: service.SegmentsByUse})
			return err
		}},
		{"properties", func() error {
			_, _, err := v.Properties(service.PropertyQuery{Prefix: "p"})
			return err
		}},
		{"counts", func() error {
			v.CatalogCounts()
			return nil
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCatalogOfSnapshot measures what the first list of a snapshot computes: of a new
// one, and of one in which a single flag has changed.
func BenchmarkCatalogOfSnapshot(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			s := largeNamespace(10_000)
			before := heap()
			b.StartTimer()
			service.View{Snapshot: s}.CatalogCounts()
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/10_000, "B/flag")
			runtime.KeepAlive(s)
			b.StartTimer()
		}
	})
	for _, flags := range []int{10_000, 100_000} {
		s := largeNamespace(flags)
		all := s.Flags()
		for name, first := range map[string]func(v service.View) error{
			"list": func(v service.View) error {
				_, err := v.FlagSummaries(service.FlagQuery{})
				return err
			},
			"counts": func(v service.View) error {
				v.CatalogCounts()
				return nil
			},
			"nothing": func(service.View) error { return nil },
		} {
			b.Run(fmt.Sprintf("changed/%s/%d", name, flags), func(b *testing.B) {
				if err := first(service.View{Snapshot: s}); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					changed := *all[i*7919%flags]
					changed.Enabled = i%2 == 0
					s = s.Apply(guidon.SnapshotDelta{Revision: guidon.Revision{Number: int64(i)}, Flags: []*guidon.Flag{&changed}})
					if err := first(service.View{Snapshot: s}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("known/%s/%d", name, flags), func(b *testing.B) {
				for b.Loop() {
					if err := first(service.View{Snapshot: s}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
