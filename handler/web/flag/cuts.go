package flag

import (
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// cut is the share of a variant in buckets. The engine cuts the buckets of a rule into the
// shares of its variants, one after the other.
type cut struct {
	variant int // its index, or rest
	buckets int
}

const (
	ruleBuckets = 1000 // of a rule
	rest        = -1   // the buckets that no variant has
)

// cutsOf returns the shares of a rule in their order, with the rest. It returns nil if there are
// none, or one is no share.
func cutsOf(s step) (cuts []cut) {
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

// moved returns how many buckets have another variant after than before.
func moved(before, after []cut) (buckets int) {
	at := func(cuts []cut, bucket int) (variant, end int) {
		for _, c := range cuts {
			if end += c.buckets; bucket < end {
				return c.variant, end
			}
		}
		return rest, ruleBuckets
	}
	for bucket := 0; bucket < ruleBuckets; {
		was, wasEnd := at(before, bucket)
		is, isEnd := at(after, bucket)
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

// fewest returns the order of the cuts that moves the fewest buckets, and how many.
func fewest(before, after []cut) (best []cut, buckets int) {
	best, buckets = after, moved(before, after)
	order := slices.Clone(after)
	var try func(n int)
	try = func(n int) {
		if n == len(order) {
			if m := moved(before, order); m < buckets {
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
func (l *ladder) cutNote(s step) string {
	was, ok := l.draft.before(s)
	if !ok {
		return ""
	}
	before, after := cutsOf(was), cutsOf(s)
	if before == nil || after == nil {
		return ""
	}
	best, buckets := fewest(before, after)
	now := moved(before, after)
	if buckets == now {
		return ""
	}
	names := make([]string, len(best))
	for i, c := range best {
		names[i] = l.draft.base.GetVariants()[c.variant].GetKey()
	}
	percent := func(buckets int) string { return page.Percent(float64(buckets) * 100 / ruleBuckets) }
	return "In the order " + strings.Join(names, ", ") + ", these shares would move " + percent(buckets) + " instead of " + percent(now) +
		". The rule keeps its order, so that it can be foreseen who moves at the next change."
}
