package changes

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// PlannedSentences are the differences of a change of a plan, in sentences.
func PlannedSentences(c *guidonv1.PlannedChange) templ.Component {
	list, more := plannedDifferences(c)
	if len(list) == 0 {
		return summary(page.Printable(c.GetSummary(), maxMessage))
	}
	return sentences(list, more)
}

// EffectSentences returns the effect on users of a flag, in sentences.
func EffectSentences(e *guidonv1.FlagEffect) []string {
	stated, _ := newEffect("", e)
	return stated.Lines
}
