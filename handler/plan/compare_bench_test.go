package plan_test

import (
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/plan"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// viewOf returns a namespace with random flags, of which every nth is changed, unless n is 0.
func viewOf(key string, flags, n int) service.View {
	random := flagtest.NewSource(1)
	all, segments := random.State(flags)
	for i := range all {
		if n > 0 && i%n == 0 {
			all[i] = random.EditFlag(all[i])
		}
	}
	snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: key}, guidon.Revision{Number: 1}, all, segments)
	return service.View{Snapshot: snapshot, State: service.State{Namespace: key, Revision: 1}}
}

// BenchmarkCompare compares two namespaces of 10,000 flags and encodes the first page.
func BenchmarkCompare(b *testing.B) {
	before := viewOf("before", 10_000, 0)
	for _, test := range []struct {
		name    string
		after   service.View
		request *guidonv1.CompareRequest
	}{
		{"equal", viewOf("after", 10_000, 0), &guidonv1.CompareRequest{}},
		{"one in 100 differs", viewOf("after", 10_000, 100), &guidonv1.CompareRequest{}},
		{"all differ", viewOf("after", 10_000, 1), &guidonv1.CompareRequest{}},
		{"all differ, the largest page", viewOf("after", 10_000, 1), &guidonv1.CompareRequest{Limit: 1000}},
		{"all differ, with diffs", viewOf("after", 10_000, 1), &guidonv1.CompareRequest{Diff: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page, err := plan.Compare(b.Context(), before, test.after, test.request, &call.Request{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := codec.Marshal(page); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
