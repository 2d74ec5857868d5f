package changes

import (
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
)

// Limits of the title of a change.
const (
	maxTitleParts = 3
	maxTitlePart  = 60 // bytes
)

// titleOf returns what a change of an object did in a few words, such as "Rule 3, metadata".
func titleOf(r record) string {
	switch change.Action(r.GetAction()) {
	case change.ActionCreate:
		return "Created"
	case change.ActionDelete:
		return "Deleted"
	}
	recorded := recordOf(r.Change)
	if len(recorded.Before)+len(recorded.After) > maxCompared {
		return "Changed"
	}
	differences, err := recorded.Differences()
	if err != nil || len(differences) == 0 {
		return capital(page.Printable(r.GetSummary(), maxTitlePart))
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
	title := capital(strings.Join(parts, ", "))
	if more > 0 {
		title += " and more"
	}
	return title
}

// titlePart names what is different: the part of the object or, if that was added or
// removed, what happened to it.
func titlePart(d change.Difference) string {
	shown := newDifference(d.Summary, string(d.Op), d.Before, d.After)
	text := shown.At
	if text == "" {
		text, _, _ = strings.Cut(shown.Text, " (")
	}
	if text != "" {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return page.Printable(inWords(text), maxTitlePart)
}
