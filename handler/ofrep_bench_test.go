package handler_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
)

// benchSnapshot returns n flags. Half of them are boolean flags with a threshold, the
// others variant flags with a split in a segment with three constraints.
func benchSnapshot(n int) *guidon.Snapshot {
	segment := &guidon.Segment{Key: "s", Name: "S", MatchType: guidon.MatchAll, Constraints: []*guidon.Constraint{
		{ID: "1", Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: "US"},
		{ID: "2", Type: guidon.NumberComparison, Property: "age", Operator: guidon.OpGTE, Value: "18"},
		{ID: "3", Type: guidon.BooleanComparison, Property: "beta", Operator: guidon.OpTrue},
	}}
	flags := make([]*guidon.Flag, n)
	for i := range flags {
		flags[i] = &guidon.Flag{
			Key: benchKey(i), Type: guidon.BooleanFlag,
			Rollouts: []*guidon.Rollout{{ID: "r", Rank: 1, Threshold: &guidon.RolloutThreshold{Percentage: 50, Value: true}}},
		}
		if i%2 == 1 {
			flags[i] = &guidon.Flag{
				Key: benchKey(i), Enabled: true,
				Variants: []*guidon.Variant{{ID: "a", Key: "on"}, {ID: "b", Key: "off"}},
				Rules: []*guidon.Rule{{ID: "r", Rank: 1, SegmentKeys: []string{"s"}, Distributions: []*guidon.Distribution{
					{ID: "1", VariantID: "a", Rollout: 50}, {ID: "2", VariantID: "b", Rollout: 50},
				}}},
			}
		}
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1, Stamp: 1}, flags, []*guidon.Segment{segment})
}

// benchKey returns the key of a flag of [benchSnapshot].
func benchKey(i int) string { return fmt.Sprintf("%s-%05d", []string{"bool", "var"}[i%2], i) }

// BenchmarkOFREP measures requests without the network.
func BenchmarkOFREP(b *testing.B) {
	const body = `{"context":{"targetingKey":"user-0001","country":"US","age":42,"beta":true}}`
	for _, n := range []int{50, 10_000} {
		h := over(benchSnapshot(n))
		tag := serve(h, http.MethodPost, ofrepPath, body).Header().Get("ETag")
		first := make([]string, 50)
		for i := range first {
			first[i] = benchKey(i)
		}
		named := strings.Replace(body, `{"context":{`, `{"context":{"flags":"`+strings.Join(first, ",")+`",`, 1)
		for _, bench := range []struct {
			name, path, body string
			headers          []string
			want             int
		}{
			{"boolean", ofrepPath + "/bool-00000", body, nil, http.StatusOK},
			{"variant", ofrepPath + "/var-00001", body, nil, http.StatusOK},
			{"bulk50", ofrepPath, named, nil, http.StatusOK},
			{"not modified", ofrepPath, body, []string{"If-None-Match", tag}, http.StatusNotModified},
		} {
			b.Run(fmt.Sprintf("%s/flags=%d", bench.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if r := serve(h, http.MethodPost, bench.path, bench.body, bench.headers...); r.Code != bench.want {
						b.Fatal(r.Body)
					}
				}
			})
		}
	}
}
