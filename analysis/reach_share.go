package analysis

import (
	"iter"
	"slices"

	"github.com/guidonhq/guidon"
)

// Share holds the buckets of a percentage.
type Share struct {
	Distribution *guidon.Distribution // nil for a threshold
	Variant      string               // its variant's key; empty if that does not exist
	Percentage   float32              // as configured
	Start, End   int                  // its buckets; empty if both are the same
	Of           int                  // the number of all buckets
	Cause        ShareCause
}

// ShareCause is why a share has no bucket.
type ShareCause uint8

// Causes of shares without a bucket.
const (
	HasBuckets     ShareCause = iota
	ZeroShare                 // its percentage is 0
	BelowOneBucket            // its percentage is less than that of one bucket
	BeyondTheEnd              // the distributions before it have all buckets
	LostVariant               // its variant does not exist
)

// Buckets returns the number of buckets.
func (s Share) Buckets() int { return s.End - s.Start }

// contains reports whether the bucket is in the share.
func (s Share) contains(bucket int) bool { return s.Start <= bucket && bucket < s.End }

// Given returns the percentage that the engine really gives: that of the buckets.
func (s Share) Given() float32 { return float32(s.Buckets()) * 100 / float32(s.Of) }

// Rounded reports whether the engine gives another percentage than configured.
func (s Share) Rounded() bool { return s.Given() != s.Percentage }

// eachShare yields the shares of the distributions of a rule, which are those of
// evaluations.
func eachShare(f *guidon.Flag, r *guidon.Rule, divider *guidon.Bucketer) iter.Seq[Share] {
	return func(yield func(Share) bool) {
		of, covered := divider.Buckets(), 0
		sum := guidon.BucketSum{Fine: of == guidon.FineBuckets}
		for _, d := range r.Distributions {
			share := Share{Distribution: d, Percentage: d.Rollout, Start: covered, End: covered, Of: of}
			v := f.Variant(d.VariantID)
			if v != nil {
				share.Variant = v.Key
			}
			switch {
			case v == nil:
				share.Cause = LostVariant
			case !d.Shares():
				share.Cause = ZeroShare
			default:
				share.End = max(covered, min(sum.Add(d), of))
				share.Cause = causeOf(share)
			}
			if covered = share.End; !yield(share) {
				return
			}
		}
	}
}

// distributes reports whether the bucket of an entity decides which variant the rule gives:
// it does if any distribution has a share.
func distributes(f *guidon.Flag, r *guidon.Rule) bool {
	return slices.ContainsFunc(r.Distributions, func(d *guidon.Distribution) bool {
		return d.Shares() && f.Variant(d.VariantID) != nil
	})
}

// distributesTo reports whether the rule has a distribution to the variant.
func distributesTo(f *guidon.Flag, r *guidon.Rule, variant string) bool {
	return slices.ContainsFunc(r.Distributions, func(d *guidon.Distribution) bool {
		v := f.Variant(d.VariantID)
		return v != nil && v.Key == variant
	})
}

// causeOf returns the cause of a share of a positive percentage.
func causeOf(s Share) ShareCause {
	switch {
	case s.End > s.Start:
		return HasBuckets
	case s.Start == s.Of:
		return BeyondTheEnd
	}
	return BelowOneBucket
}

// shareOf returns the share of a threshold or a portion.
func shareOf(b *guidon.BucketShare) Share {
	s := Share{Percentage: b.Percentage, Start: b.Start, End: b.End, Of: b.Buckets()}
	if b.Empty() {
		s.Cause = ZeroShare
	}
	return s
}
