package change

import "testing"

func TestLongestIncreasing(t *testing.T) {
	for _, test := range []struct {
		values []int
		want   int // how many are kept in order
	}{
		{nil, 0}, {[]int{0, 1, 2}, 3}, {[]int{2, 0, 1}, 2}, {[]int{2, 1, 0}, 1}, {[]int{3, 0, 4, 1, 2, 5}, 4}, {[]int{-1, 1, -1, 0}, 1},
	} {
		kept, last := 0, -1
		for i, in := range longestIncreasing(test.values) {
			switch v := test.values[i]; {
			case v < 0 && !in:
				t.Errorf("%v: a new item at %d is out of order", test.values, i)
			case v >= 0 && in:
				if v < last {
					t.Errorf("%v: %d after %d", test.values, v, last)
				}
				kept, last = kept+1, v
			}
		}
		if kept != test.want {
			t.Errorf("%v: %d kept, want %d", test.values, kept, test.want)
		}
	}
}
