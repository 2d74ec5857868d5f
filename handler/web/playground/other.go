package playground

import (
	"slices"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// other is another answer, and how to get it.
type other struct {
	Outcome outcome
	Words   string // how to get it, or why it cannot be had
	Lead    string // that it cannot be had, or ""
}

// Limits of the other results.
const (
	maxOthers = 50
	maxWords  = 2 << 10 // bytes
)

// others returns the other results, and the changes that lead to them.
func (x *answer) others() []other {
	all := x.otherBuckets()
	for _, o := range x.e.GetOthers() {
		if len(all) >= maxOthers {
			break
		}
		all = append(all, x.other(o))
	}
	return all
}

// otherBuckets returns the results of entities in other buckets, from rules that have consulted
// the bucket.
func (x *answer) otherBuckets() (all []other) {
	for _, s := range x.e.GetSteps() {
		b := s.GetBucket()
		for i, r := range b.GetRanges() {
			if i+1 == int(b.GetChosen()) || r.GetTo() == r.GetFrom() {
				continue
			}
			is := value(s.GetValue())
			if !x.boolean {
				is = x.variant(r.GetVariantKey())
			}
			if is != x.outcome() && len(all) < maxOthers {
				all = append(all, other{
					Outcome: is, Words: "for an entity in the buckets " + buckets(r) + "; then " + ruleName(s.GetNumber()) + " decides",
				})
			}
		}
	}
	return all
}

func (x *answer) other(o *guidonv1.OtherResult) other {
	v := other{Outcome: value(o.GetEnabled())}
	if !x.boolean {
		v.Outcome = x.variant(o.GetVariantKey())
		if !o.GetMatch() && o.GetVariantKey() != "" {
			v.Outcome.Name += " by default"
		}
	}
	switch {
	case slices.ContainsFunc(o.GetObstacles(), func(o *guidonv1.Obstacle) bool { return o.GetReason() == "not_in_force" }):
		v.Lead = "not now: "
	case o.GetVerdict() != "reachable":
		v.Lead = "not for this entity: "
	}
	v.Words = page.Printable(o.GetText(), maxWords)
	return v
}
