package segment

import (
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// effect is the effect of saving a draft on the flags that use the segment.
type effect struct {
	Total   int // flags that use it
	Looked  int // flags that were compared
	Changed []*guidonv1.SegmentUse
}

// readEffect returns the effect of saving a segment.
func readEffect(v *page.Visit, key string, g *guidonv1.DocumentSegment) (*effect, error) {
	usage, err := page.PreviewSegment.Run(v, &guidonv1.PreviewSegmentRequest{NamespaceKey: v.Key(), Key: key, Segment: g})
	if err != nil {
		return nil, err
	}
	e := &effect{Total: int(usage.GetTotalCount()), Looked: len(usage.GetUses())}
	for _, u := range usage.GetUses() {
		if moves, _ := review.EffectSentences(u.GetEffect(), 1); len(moves) > 0 {
			e.Changed = append(e.Changed, u)
		}
	}
	return e, nil
}

// String returns the effect in words.
func (e *effect) String() string {
	switch {
	case e.Total == 0:
		return "No flag uses this segment, so nothing changes for anybody."
	case len(e.Changed) == 0 && e.Looked == e.Total:
		return uses(e.Total) + " this segment. Nothing changes for anybody."
	}
	text := uses(e.Total) + " this segment. "
	if e.Looked < e.Total {
		text = uses(e.Total) + " this segment, of which " + page.Number(e.Looked) + " were compared. "
	}
	switch len(e.Changed) {
	case 0:
		return text + "Nothing changes for anybody in these."
	case e.Total:
		if e.Total == 1 {
			return text + "It can give other results."
		}
		return text + "All of them can give other results."
	}
	return text + page.Number(len(e.Changed)) + " of them can give other results."
}

// uses returns that flags use something.
func uses(flags int) string {
	if flags == 1 {
		return "1 flag uses"
	}
	return page.Number(flags) + " flags use"
}

// maxMoves limits the moves of a flag that are listed.
const maxMoves = 6

// rulesOf returns the rules that use the segment in words, such as "rules 1, 3".
func rulesOf(u *guidonv1.SegmentUse) string {
	references := referencesOf(u)
	numbers := make([]string, 0, len(references))
	for i, r := range references {
		if i == maxRules {
			numbers = append(numbers, "…")
			break
		}
		numbers = append(numbers, page.Number(int(r.GetIndex())+1))
	}
	text := "rule "
	if len(references) > 1 {
		text = "rules "
	}
	return text + strings.Join(numbers, ", ")
}

// maxRules limits the rules of a flag that are named.
const maxRules = 10
