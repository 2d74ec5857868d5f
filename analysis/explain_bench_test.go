package analysis_test

import (
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// BenchmarkExplain explains a flag of ten rules. Each has a segment of its own with three
// constraints, and 50 % for each of two variants. The entity belongs to the last one, or to
// none.
func BenchmarkExplain(b *testing.B) {
	const rules = 10
	flag := flagtest.WithDefault(flagtest.VariantFlag("checkout"), "A")
	var segments []*guidon.Segment
	for i := range rules {
		key := fmt.Sprintf("segment-%d", i)
		segments = append(segments, flagtest.Segment(key, guidon.MatchAll,
			&guidon.Constraint{ID: "1", Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: fmt.Sprintf("C%d", i)},
			&guidon.Constraint{ID: "2", Type: guidon.NumberComparison, Property: "age", Operator: guidon.OpGTE, Value: "18"},
			&guidon.Constraint{ID: "3", Type: guidon.BooleanComparison, Property: "beta", Operator: guidon.OpTrue},
		))
		flag.Rules = append(flag.Rules, flagtest.Rule(flagtest.Shares{50, 50}, key))
	}
	flag.Variants = flag.Variants[:2]
	s := flagtest.SnapshotOf(flag, segments...)
	for _, c := range []struct{ name, country string }{{"last rule", "C9"}, {"no rule", "other"}} {
		b.Run(c.name, func(b *testing.B) {
			context := map[string]string{"country": c.country, "age": "30", "beta": "true"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := analysis.Explain(s, "checkout", "user-1", context); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
