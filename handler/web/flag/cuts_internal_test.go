package flag

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFewest: of all orders, one that moves the fewest buckets; the present one if no other
// is better.
func TestFewest(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after []cut
		moves         int
		best          []cut
		fewer         int
	}{
		{"two shares", []cut{{0, 500}, {1, 500}}, []cut{{0, 300}, {1, 700}}, 200, []cut{{0, 300}, {1, 700}}, 200},
		{"the middle one moves too", []cut{{0, 500}, {1, 300}, {2, 200}}, []cut{{0, 200}, {1, 300}, {2, 500}}, 600, []cut{{0, 200}, {1, 300}, {2, 500}}, 600},
		{"the first one leaves", []cut{{0, 200}, {1, 400}, {2, 400}}, []cut{{0, 0}, {1, 600}, {2, 400}}, 200, []cut{{0, 0}, {1, 600}, {2, 400}}, 200},
		{"a new one beside the one it takes from", []cut{{0, 500}, {1, 500}}, []cut{{0, 300}, {1, 500}, {2, 200}}, 400, []cut{{0, 300}, {2, 200}, {1, 500}}, 200},
		{"all to the rest", []cut{{0, 1000}}, nil, 1000, nil, 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := recut{test.before, test.after, -1, -1}
			if got := r.moved(test.after); got != test.moves {
				t.Errorf("%d buckets move, want %d", got, test.moves)
			}
			best, fewer := r.fewest()
			if fewer != test.fewer {
				t.Errorf("%d buckets move at least, want %d", fewer, test.fewer)
			}
			if diff := cmp.Diff(test.best, best, cmp.AllowUnexported(cut{})); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoved: the count is that of the buckets one by one. The rest gets the last variant.
func TestMoved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (cuts []cut) {
		left := ruleBuckets
		for _, variant := range r.Perm(4) {
			n := r.IntN(left + 1)
			cuts, left = append(cuts, cut{variant, n}), left-n
		}
		return cuts
	}
	buckets := func(cuts []cut) (variants []int) {
		for _, c := range cuts {
			variants = append(variants, slices.Repeat([]int{c.variant}, c.buckets)...)
		}
		return append(variants, slices.Repeat([]int{3}, ruleBuckets-len(variants))...)
	}
	for range 200 {
		before, after := random(), random()
		want := 0
		for i, variant := range buckets(before) {
			if buckets(after)[i] != variant {
				want++
			}
		}
		if got := (recut{before, after, 3, 3}).moved(after); got != want {
			t.Fatalf("from %v to %v: %d buckets move, want %d", before, after, got, want)
		}
	}
}
