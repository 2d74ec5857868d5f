package guidon_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

// TestSortedRandomly compares lists with slices, over changes of one and of many items. No
// change may be seen in the lists before it.
func TestSortedRandomly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list, want := guidon.NewSorted(cmp.Compare[int], nil), []int(nil)
	type version struct {
		list guidon.Sorted[int]
		want []int
	}
	var versions []version
	for step := range 300 {
		many := []int{1, 3, 2_000}[random.IntN(3)]
		removed, added := map[int]bool{}, map[int]bool{}
		for range random.IntN(many) + 1 {
			if len(want) > 0 && random.IntN(2) == 0 {
				removed[want[random.IntN(len(want))]] = true
			} else if item := random.IntN(20_000); !slices.Contains(want, item) {
				added[item] = true
			}
		}
		if random.IntN(100) == 0 { // all
			for _, item := range want {
				removed[item] = true
			}
		}
		var out, in []int
		next := slices.Clone(want)
		for item := range removed {
			out = append(out, item)
			if at, _ := slices.BinarySearch(next, item); random.IntN(4) == 0 {
				in = append(in, item) // replaced
			} else {
				next = slices.Delete(next, at, at+1)
			}
		}
		for item := range added {
			in = append(in, item)
			at, _ := slices.BinarySearch(next, item)
			next = slices.Insert(next, at, item)
		}
		list, want = list.With(out, in), next
		versions = append(versions, version{list, want})
		if diff := gocmp.Diff(want, slices.Collect(list.All())); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", step, diff)
		}
		checkSorted(t, random, list, want)
	}
	for i, v := range versions {
		if !slices.Equal(v.want, slices.Collect(v.list.All())) {
			t.Fatalf("the list after step %d has changed later", i)
		}
	}
}

// checkSorted compares the other methods.
func checkSorted(t *testing.T, random *rand.Rand, list guidon.Sorted[int], want []int) {
	t.Helper()
	backward := slices.Collect(list.Backward())
	slices.Reverse(backward)
	if list.Len() != len(want) || !slices.Equal(backward, want) {
		t.Fatalf("got %d items and %v backward, want %v", list.Len(), backward, want)
	}
	offset, n := random.IntN(len(want)+2), random.IntN(len(want)+2)
	if got, part := list.Part(offset, n), want[min(offset, len(want)):min(offset+n, len(want))]; !slices.Equal(got, part) {
		t.Fatalf("got the part %v, want %v", got, part)
	}
	item := random.IntN(20_000)
	if got, found := list.Find(func(i int) int { return cmp.Compare(i, item) }); found != slices.Contains(want, item) || found && got != item {
		t.Fatalf("found %d, %t, want %d", got, found, item)
	}
}
