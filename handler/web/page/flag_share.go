package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// SharesOf returns shares of what entities get for a bar, in the order of their ranks. Those with the
// same result are one.
func SharesOf(variant bool, shares []*guidonv1.FlagShare) (all []part.Share) {
	byRank := func(a, b *guidonv1.FlagShare) int { return cmp.Compare(shareRank(a), shareRank(b)) }
	for _, s := range slices.SortedStableFunc(slices.Values(shares), byRank) {
		one := part.Share{Name: ShareName(variant, s), Color: shareColor(variant, s), Percent: float64(s.GetPercentage())}
		if n := len(all) - 1; n >= 0 && all[n].Name == one.Name && all[n].Color == one.Color {
			one.Percent += all[n].Percent
			all = all[:n]
		}
		one.Text = Percent(one.Percent)
		all = append(all, one)
	}
	return all
}

// shareRank returns the place of a result among those of its flag: true before false, variants in
// their order, nothing last.
func shareRank(e *guidonv1.FlagShare) int {
	switch {
	case e.GetVariantKey() != "":
		return int(e.GetVariantIndex())
	case e.GetEnabled():
		return 0
	}
	return math.MaxInt
}

// ShareName returns the result of the entities of a share, in words.
func ShareName(variant bool, e *guidonv1.FlagShare) string {
	switch {
	case e.GetFails():
		return "an error"
	case !variant && e.GetEnabled():
		return "on"
	case !variant:
		return "off"
	}
	return cmp.Or(e.GetVariantKey(), "nothing")
}

// shareColor returns the class with the colour of the result.
func shareColor(variant bool, e *guidonv1.FlagShare) string {
	switch {
	case e.GetFails():
		return "c-none"
	case !variant && e.GetEnabled():
		return "c-on"
	case !variant:
		return "c-off"
	case e.GetVariantKey() == "":
		return "c-none"
	}
	return part.VariantColor(int(e.GetVariantIndex()))
}
