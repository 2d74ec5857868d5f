package flaginfo

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Effect returns an effect on people, in at most limit sentences, and whether
// there is more. Moves that are for another reason only are left out. The effect must be in
// the words of pages.
func Effect(e *guidonv1.FlagEffect, limit int) (sentences []string, more bool) {
	if e.GetTypeChanged() {
		is, was := "variant", "boolean"
		if e.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			is, was = was, is
		}
		return []string{"It becomes a " + is + " flag: evaluations as a " + was + " flag fail."}, e.GetTruncated()
	}
	for _, g := range e.GetGroups() {
		for _, m := range g.GetMoves() {
			switch {
			case m.GetSameValue():
			case len(sentences) == limit:
				return sentences, true
			default:
				sentences = append(sentences, page.Sentence(m.GetSummary()))
			}
		}
	}
	return sentences, e.GetTruncated()
}
