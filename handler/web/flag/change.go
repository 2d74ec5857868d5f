package flag

import (
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/review"
)

// differences returns what saving the draft changes in the flag of which the visitor began.
func (e *edit) differences() []change.Difference {
	var former map[string]string
	if d, ok := e.editor.(*variants); ok {
		former = d.former()
	}
	return review.FlagDifferences(e.base, e.editor.result(), former)
}

// former returns the former keys of the variants that have another one in the draft.
func (d *variants) former() map[string]string {
	former := make(map[string]string)
	for _, r := range d.rows {
		if !r.gone && d.before(r) != nil {
			former[r.key] = r.was
		}
	}
	return former
}

// edited returns the differences of a rule, in a line.
func (l *ladder) edited(i int) string {
	var texts []string
	for _, d := range l.unsaved {
		rest, ok := strings.CutPrefix(d.Path, l.draft.rulePath(i))
		switch {
		case !ok || d.Op == change.OpMove && rest == "":
		case d.Op == change.OpAdd && rest == "":
			return "New"
		default:
			words := d.Wording
			words.Parts = words.Parts[1:]
			texts = append(texts, words.String())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "Edited: " + strings.Join(texts[:min(len(texts), 4)], ", ")
}

// rulePath returns the path of a rule in differences.
func (d *draft) rulePath(i int) string {
	if d.boolean {
		return "rollouts[" + strconv.Itoa(i) + "]"
	}
	return "rules[" + strconv.Itoa(i) + "]"
}
