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

// TestUnleashBuckets: the buckets are those that Unleash publishes for its groups, which it counts
// from 1, and a percentage takes the buckets up to itself.
func TestUnleashBuckets(t *testing.T) {
	for _, tt := range []struct {
		group, id         string
		percent, variants int // as Unleash counts
	}{{"gr1", "123", 73, 796}, {"groupX", "999", 25, 260}} {
		split := Split{Seed: tt.group + ":", Hash: UnleashHash}
		variants, portion := newBucketer(split, "flag"), newPortionBucketer(split, "flag")
		threshold := newBucketShare(newThresholdBucketer(&RolloutThreshold{Split: &split}, "flag"), 0, float32(tt.percent))
		if got := variants.Bucket(tt.id) + 1; got != tt.variants || variants.Buckets() != 1000 {
			t.Errorf("%s: variants: got %d of %d, want %d of 1000", tt.id, got, variants.Buckets(), tt.variants)
		}
		if got := portion.Bucket(tt.id) + 1; got != tt.percent || portion.Buckets() != 100 {
			t.Errorf("%s: portion: got %d of %d, want %d of 100", tt.id, got, portion.Buckets(), tt.percent)
		}
		if got := threshold.Bucket(tt.id) + 1; got != tt.percent || !threshold.Has(tt.id, nil) {
			t.Errorf("%s: threshold: got %d, in %t; want %d, in", tt.id, got, threshold.Has(tt.id, nil), tt.percent)
		}
		for percentage, want := range map[float32]bool{float32(tt.percent): true, float32(tt.percent) - 0.1: false, float32(tt.percent) + 0.9: true} {
			if share := newBucketShare(portion, 0, percentage); share.Has(tt.id, nil) != want {
				t.Errorf("%s is in %v %%: got %t", tt.id, percentage, !want)
			}
		}
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

// TestSeedsAreIndependent: with Murmur3Hash, the bucket for one seed says nothing about that for
// another: χ² of their tenths is about its degrees of freedom. And a portion of a rule keeps the
// shares of the rule, as its buckets are others than those of the distributions.
func TestSeedsAreIndependent(t *testing.T) {
	const seeds, entities, tenths = 40, 20_000, 10
	var tenth [seeds][entities]uint8
	for s := range tenth {
		split := newBucketer(Split{Seed: fmt.Sprintf("seed-%02d", s)}, "flag")
		if s == seeds-1 {
			split = newPortionBucketer(Split{Seed: "seed-00"}, "flag")
		}
		for i := range entities {
			bucket := split.Bucket(fmt.Sprintf("user-%05d", i))
			tenth[s][i] = uint8(bucket * tenths / FineBuckets) // #nosec G115 -- below 10
		}
	}
	for b := range seeds {
		for a := range b {
			var cells [tenths][tenths]float64
			for i := range entities {
				cells[tenth[a][i]][tenth[b][i]]++
			}
			chi := 0.0
			const expected = entities / tenths / tenths
			for _, row := range cells {
				for _, n := range row {
					chi += (n - expected) * (n - expected) / expected
				}
			}
			if chi /= tenths*tenths - 1; chi > 2 {
				t.Errorf("seeds %d and %d: χ² is %.2f per degree of freedom", a, b, chi)
			}
		}
	}
}

// TestSeedOfAnotherFlag: with the key of another flag as its seed, and FliptHash, a flag selects
// the entities of that flag.
func TestSeedOfAnotherFlag(t *testing.T) {
	for i := range 2000 {
		id := fmt.Sprint("user-", i)
		like := newBucketer(Split{Seed: "other", Hash: FliptHash}, "flag")
		if got := like.Bucket(id); got != variantBucket(updateHash(hashStart, "other"), id) {
			t.Fatalf("variants: %s is in bucket %d", id, got)
		}
		like.Threshold = true
		if got := like.Bucket(id); got != booleanBucket("other", id) {
			t.Fatalf("threshold: %s is in bucket %d", id, got)
		}
	}
}

// TestShareLimits: which buckets a share has.
func TestShareLimits(t *testing.T) {
	threshold := func(percentage, start float32, hash BucketHash) BucketShare {
		return newBucketShare(newThresholdBucketer(&RolloutThreshold{Split: &Split{Seed: "s", Hash: hash}}, "flag"), start, percentage)
	}
	portion := func(percentage, start float32, hash BucketHash) BucketShare {
		return newBucketShare(newPortionBucketer(Split{Hash: hash}, "flag"), start, percentage)
	}
	for _, tt := range []struct {
		name            string
		share           BucketShare
		start, end, all int
	}{
		{"a threshold of whole buckets", threshold(12.5, 0, FliptHash), 0, 13, 100},
		{"a threshold that starts later", threshold(12.5, 12.5, FliptHash), 13, 25, 100},
		{"a fine threshold", threshold(12.5, 0, FliptFineHash), 0, 12_500, 100_000},
		{"one of the default hash with a seed", threshold(33.333, 66.667, DefaultHash), 66_667, 100_000, 100_000},
		{"a threshold up to the end", threshold(99.9, 0.1, FliptHash), 1, 100, 100},
		{"a threshold up to 80", threshold(79.9, 0.1, FliptHash), 1, 80, 100},
		{"a portion up to the end", portion(79.9, 20.1, DefaultHash), 20_100, 100_000, 100_000},
		{"a portion", portion(30, 30, DefaultHash), 30_000, 60_000, 100_000},
		{"a portion that rounds", portion(0.0004, 0, DefaultHash), 0, 0, 100_000},
		{"a portion of coarse buckets", portion(33.333, 0.05, FliptHash), 0, 333, 1000},
	} {
		if s := tt.share; s.Start != tt.start || s.End != tt.end || s.Buckets() != tt.all {
			t.Errorf("%s: got %d to %d of %d, want %d to %d of %d", tt.name, s.Start, s.End, s.Buckets(), tt.start, tt.end, tt.all)
		}
	}
}
