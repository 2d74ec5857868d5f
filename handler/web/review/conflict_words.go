package review

import (
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxText limits the texts that are shown, in bytes.
const maxText = 2 << 10

// partName returns the name of a part, or of the whole object if name is empty.
func (p *Conflict) partName(name string) string {
	if name == "" {
		return "The whole " + p.Noun
	}
	return page.Capital(page.Printable(name, maxText))
}

// conflictName returns the name of the part that a conflict is about.
func (p *Conflict) conflictName(c *guidonv1.MergeConflict) string {
	if c.GetPath() == change.Whole {
		return p.partName("")
	}
	return p.partName(c.GetName())
}

// changedPart is a part that one side alone has changed.
type changedPart struct{ what, was, now, by string }

// changedParts returns the differences of one side in words.
func (p *Conflict) changedParts(all []*guidonv1.FieldDifference, by string) (parts []changedPart) {
	for _, d := range all {
		w := d.GetWording()
		c := changedPart{
			what: p.partName(strings.Join(w.GetParts(), ": ")), by: by,
			was: page.Printable(w.GetBefore(), maxText), now: page.Printable(w.GetAfter(), maxText),
		}
		if c.was == "" && c.now == "" {
			c.now = page.Capital(page.Printable(w.GetWhat(), maxText))
		}
		parts = append(parts, c)
	}
	return parts
}
