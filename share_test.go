package guidon

import (
	"fmt"
	"testing"
)

// The published results of Unleash's hash: the bucket is the hash modulo 100, plus 1.
func TestMurmur3(t *testing.T) {
	const ofVariants = 86028157
	for _, tt := range []struct {
		start     uint32
		group, id string
		want      uint32
	}{
		{0, "gr1:", "123", 73}, {0, "", "gr1:123", 73}, {0, "gr1:123", "", 73}, {0, "g", "r1:123", 73}, {0, "groupX:", "999", 25},
		{ofVariants, "gr1:", "123", 96}, {ofVariants, "groupX:", "999", 60},
	} {
		if got := murmur3(tt.start, tt.group, tt.id)%100 + 1; got != tt.want {
			t.Errorf("%d, %s%s: got %d, want %d", tt.start, tt.group, tt.id, got, tt.want)
		}
	}
	if got := murmur3(0, "", ""); got != 0 {
		t.Errorf("nothing: got %d", got)
	}
}

// TestFineBuckets: the fine buckets refine those of the flag's own way, and are used evenly.
func TestFineBuckets(t *testing.T) {
	for _, threshold := range []bool{false, true} {
		coarse, fine := newBucketer(Split{}, "checkout"), newBucketer(Split{Hash: FliptFineHash}, "checkout")
		coarse.Threshold, fine.Threshold = threshold, threshold
		within := map[int]int{}
		for i := range 20_000 {
			id := fmt.Sprint("user-", i)
			a, b := coarse.Bucket(id), fine.Bucket(id)
			if ratio := FineBuckets / coarse.Buckets(); b/ratio != a {
				t.Fatalf("%s: fine bucket %d is not in bucket %d", id, b, a)
			}
			within[b*10/FineBuckets]++
		}
		for tenth := range 10 {
			if n := within[tenth]; n < 1800 || n > 2200 {
				t.Errorf("threshold %t: %d of 20,000 entities are in tenth %d", threshold, n, tenth)
			}
		}
	}
}
