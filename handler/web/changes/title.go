package changes

import (
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
)

// Limits of the title of a change.
const (
	maxTitleParts = 3
	maxTitlePart  = 60       // bytes
	maxTitled     = 16 << 10 // bytes of an object before and after together; other titles are less exact
)

// objectTitle returns the change of one object in a few words, such as "Rule 3, metadata", after the
// reason, such as "Undid 125: turned on".
func (g *group) objectTitle() string {
	title := differenceTitle(g.Records[0])
	if why := g.why(); why != "" {
		title = why + g.Tail() + ": " + title
	}
	return page.Capital(title)
}

// differenceTitle returns the differences of a change in a few words.
func differenceTitle(r record) string {
	switch change.Action(r.GetAction()) {
	case change.ActionCreate:
		return "created"
	case change.ActionDelete:
		return "deleted"
	}
	if r.Change.Name != nil { // it stands for the objects
		return "changed"
	}
	differences, err := recordOf(r.Change).Differences()
	if err != nil || len(differences) == 0 {
		return page.Printable(r.GetSummary(), maxTitlePart)
	}
	var parts []string
	more := 0
	for _, d := range differences {
		part := titlePart(d)
		switch {
		case len(parts) > 0 && parts[len(parts)-1] == part:
		case len(parts) == maxTitleParts:
			more++
		default:
			parts = append(parts, part)
		}
	}
	title := strings.Join(parts, ", ")
	if more > 0 {
		title += " and more"
	}
	return title
}

// titlePart names a difference: the part of the object or, if that was added or removed,
// the action on it.
func titlePart(d change.Difference) string {
	w := d.Wording
	if len(w.Parts) == 0 {
		return page.Printable(w.What, maxTitlePart)
	}
	text := w.Parts[0]
	if len(w.Parts) == 1 && d.Op != change.OpReplace {
		what, _, _ := strings.Cut(w.What, " (")
		text += " " + what
	}
	return page.Printable(text, maxTitlePart)
}
