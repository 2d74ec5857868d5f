package flag

import (
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/internal/lists"
)

// cut is the share of a variant in buckets. The engine cuts the buckets of a rule into the
// shares of its variants, one after the other.
type cut struct {
	variant int // its index
	buckets int
}

// ruleBuckets is how many buckets a rule has.
const ruleBuckets = 1000

// cutsOf returns the shares of a rule in their order. It returns nil if there are none, or one
// is no share.
func cutsOf(s rule) (cuts []cut) {
	left := ruleBuckets
	for _, p := range s.given() {
		n, problem := parseShare(p.text)
		if problem != "" {
			return nil
		}
		buckets := min(int(n*(ruleBuckets/100)), left)
		cuts = append(cuts, cut{p.variant, buckets})
		left -= buckets
	}
	return cuts
}

// recut is an edit of the shares of a rule, with the variants that the rest of the buckets gets;
// -1 is none.
type recut struct {
	before, after         []cut
	restBefore, restAfter int
}

// moved returns how many buckets have another variant than before if the shares are cut in the
// order.
func (r recut) moved(order []cut) (buckets int) {
	at := func(cuts []cut, rest, bucket int) (variant, end int) {
		for _, c := range cuts {
			if end += c.buckets; bucket < end {
				return c.variant, end
			}
		}
		return rest, ruleBuckets
	}
	for bucket := 0; bucket < ruleBuckets; {
		was, wasEnd := at(r.before, r.restBefore, bucket)
		is, isEnd := at(order, r.restAfter, bucket)
		end := min(wasEnd, isEnd)
		if was != is {
			buckets += end - bucket
		}
		bucket = end
	}
	return buckets
}

// maxReordered limits the shares of which all orders are tried.
const maxReordered = 6

// fewest returns the order of the shares that moves the fewest buckets, and how many.
func (r recut) fewest() (best []cut, buckets int) {
	best, buckets = r.after, r.moved(r.after)
	order := slices.Clone(r.after)
	var try func(n int)
	try = func(n int) {
		if n == len(order) {
			if m := r.moved(order); m < buckets {
				best, buckets = slices.Clone(order), m
			}
			return
		}
		for i := n; i < len(order); i++ {
			order[n], order[i] = order[i], order[n]
			try(n + 1)
			order[n], order[i] = order[i], order[n]
		}
	}
	if len(order) <= maxReordered {
		try(0)
	}
	return best, buckets
}

// cutNote says that another order of the shares would move fewer, and why the rule keeps its
// own; or "".
func (l *ladder) cutNote(s rule) string {
	was, ok := l.draft.before(s)
	if !ok || s.Divide != was.Divide || s.Divide != (division{}) {
		return ""
	}
	base := l.draft.base
	r := recut{cutsOf(was), cutsOf(s), variantIndex(base, defaultVariant(base)), variantIndex(base, l.draft.other)}
	if r.before == nil || r.after == nil {
		return ""
	}
	best, buckets := r.fewest()
	now := r.moved(r.after)
	if buckets == now {
		return ""
	}
	names := lists.Map(best, func(c cut) string { return base.GetVariants()[c.variant].GetKey() })
	percent := func(buckets int) string { return page.Percent(float64(buckets) * 100 / ruleBuckets) }
	return "In the order " + strings.Join(names, ", ") + ", these shares would move " + percent(buckets) + " instead of " + percent(now) +
		". The rule keeps its order, so that it can be foreseen who moves at the next change."
}
