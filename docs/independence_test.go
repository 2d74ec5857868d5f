package docs_test

import (
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
)

// TestIndependence checks what rollouts.md says about users that two boolean flags at 2 % have
// in common: twice as many as of independent flags or none if the keys have the same length,
// and about as many if they have not, or if one of the flags has another hash.
func TestIndependence(t *testing.T) {
	const entities, expected = 100_000, 100_000 * 0.02 * 0.02
	for _, test := range []struct {
		keys   []string
		hashes []guidon.BucketHash // of the first ones; the others have that of Flipt
		depend bool                // whether pairs depend on each other
	}{
		{[]string{"new-search", "old-search", "new-basket", "dark-theme"}, nil, true},
		{[]string{"new-search", "old-search"}, []guidon.BucketHash{guidon.Murmur3Hash}, false},
		{[]string{"new-search", "old-search", "new-basket"}, []guidon.BucketHash{guidon.Murmur3Hash, guidon.Murmur3Hash}, false},
		{[]string{"beta", "search", "checkout", "new-search", "one-click-buy"}, nil, false},
	} {
		var flags []*guidon.Flag
		for i, key := range test.keys {
			threshold := &guidon.RolloutThreshold{Percentage: 2, Value: true}
			if i < len(test.hashes) {
				threshold.Split = &guidon.Split{Hash: test.hashes[i]}
			}
			flags = append(flags, &guidon.Flag{Key: key, Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{{Threshold: threshold}}})
		}
		snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, flags, nil)
		common := map[[2]string]int{}
		for i := range entities {
			var on []string
			for _, key := range test.keys {
				if result, err := snapshot.Boolean(key, fmt.Sprintf("user-%d", i), nil); err != nil {
					t.Fatal(err)
				} else if result.Enabled {
					on = append(on, key)
				}
			}
			for a := range on {
				for b := range a {
					common[[2]string{on[b], on[a]}]++
				}
			}
		}
		for b, second := range test.keys {
			for _, first := range test.keys[:b] {
				n := common[[2]string{first, second}]
				if dependent := n == 0 || n > 1.7*expected; dependent != test.depend || !dependent && (n < 0.4*expected || n > 1.6*expected) {
					t.Errorf("%s and %s: %d users in common, independent flags would have %.0f", first, second, n, expected)
				}
			}
		}
	}
}
