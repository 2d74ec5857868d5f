package segment

import (
	"cmp"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// moveText returns a move in words, such as "13% of those who no longer match step 2 move from
// Off to On."
func moveText(t flipt.FlagType, group *guidonv1.EffectGroup, m *guidonv1.EffectMove) string {
	from, to := outcomeText(t, m.GetFrom()), outcomeText(t, m.GetTo())
	if m.GetBuckets() > 0 && m.GetPercentage() >= 100 {
		who := "Everyone " + whoText(t, group, true)
		if m.GetSameValue() {
			return who + " keeps " + to + ", for another reason."
		}
		return who + " moves from " + from + " to " + to + "."
	}
	who := page.Percent(float64(m.GetPercentage())) + " of those " + whoText(t, group, false)
	if m.GetSameValue() {
		return who + " keep " + to + ", for another reason."
	}
	return who + " move from " + from + " to " + to + "."
}

// whoText returns who is in the group, as a clause about one or several people.
func whoText(t flipt.FlagType, group *guidonv1.EffectGroup, one bool) string {
	step := stepName(t)
	verb := func(singular, plural string) string {
		if one {
			return singular
		}
		return plural
	}
	before, after := page.Number(int(group.GetBefore())+1), page.Number(int(group.GetAfter())+1)
	switch {
	case group.Before != nil && group.After != nil && group.GetBefore() == group.GetAfter():
		return "who " + verb("matches ", "match ") + step + " " + after
	case group.Before != nil && group.After != nil:
		return "who " + verb("goes", "go") + " from " + step + " " + before + " to " + step + " " + after
	case group.Before != nil:
		return "who no longer " + verb("matches ", "match ") + step + " " + before
	case group.After != nil:
		return "who newly " + verb("matches ", "match ") + step + " " + after
	}
	return "who " + verb("matches", "match") + " no " + step + " with segments"
}

// outcomeText returns an outcome in words.
func outcomeText(t flipt.FlagType, o *guidonv1.FlagOutcome) string {
	switch {
	case o.GetReason() == guidonv1.OutcomeReason_ERROR_OUTCOME_REASON:
		return "an error"
	case t != flipt.FlagType_BOOLEAN_FLAG_TYPE:
		return cmp.Or(o.GetVariantKey(), "nothing")
	case o.GetEnabled():
		return "On"
	}
	return "Off"
}
