package changes

import (
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// group has the change records of one revision.
type group struct {
	Namespace string
	Revision  int64
	At        time.Time
	Actor     page.Actor
	Message   string
	Reason    *guidonv1.ChangeReason
	Records   []record
	More      bool // the revision changed more objects than these
}

// Address returns the address of the revision.
func (g *group) Address(v *page.Visit) string {
	return v.To("namespaces", g.Namespace, "changes", page.Revision(g.Revision))
}

// groupsOf returns the groups of records, of which those of a revision follow each other.
func groupsOf(changes []*guidonv1.Change) (groups []*group) {
	for _, c := range changes {
		if len(groups) == 0 || groups[len(groups)-1].Revision != c.GetRevision() || groups[len(groups)-1].Namespace != c.GetNamespaceKey() {
			groups = append(groups, &group{
				Namespace: c.GetNamespaceKey(), Revision: c.GetRevision(), At: c.GetAt().AsTime(), Actor: page.ActorOf(c.GetActor()),
				Message: page.Printable(c.GetMessage(), maxMessage), Reason: c.GetReason(),
			})
		}
		g := groups[len(groups)-1]
		g.Records = append(g.Records, record{Change: c})
	}
	return groups
}

// maxMessage limits the messages that are shown, in bytes. They have at most 1,000
// characters.
const maxMessage = 4000

// why returns what was done if that was more than a direct change, such as "imported"; or "".
func (g *group) why() string {
	switch change.ReasonKind(g.Reason.GetKind()) {
	case change.ReasonImport:
		return "imported"
	case change.ReasonPromotion:
		return "promoted"
	case change.ReasonRestore:
		return "restored"
	case change.ReasonUndo:
		return g.undone()
	}
	return ""
}

// Verb returns the action of the group on its objects, in words.
func (g *group) Verb() string {
	switch why := g.why(); {
	case change.ReasonKind(g.Reason.GetKind()) == change.ReasonUndo:
		return why + " on"
	case why != "":
		return why
	}
	verb := g.Records[0].Verb()
	for _, r := range g.Records {
		if r.Verb() != verb {
			return "changed"
		}
	}
	return verb
}

// objectTitle is the change of one object in a sentence, such as "Rule 3: share 10% → 50%", after the
// reason, such as "Undid 125: turned on".
func (g *group) objectTitle() string {
	r := g.Records[0]
	title := guidon.Shorten(page.Printable(r.GetSummary(), maxMessage), maxListed)
	if action := change.Action(r.GetAction()); action != change.ActionUpdate {
		title = verbs[action]
	}
	if why := g.why(); why != "" {
		title = why + g.Tail() + ": " + title
	}
	return page.Capital(title)
}

// undone says which revisions were undone.
func (g *group) undone() string {
	first := page.Revision(g.Reason.GetRevision())
	if g.Reason.GetLastRevision() > g.Reason.GetRevision() {
		return "undid " + first + " to " + page.Revision(g.Reason.GetLastRevision())
	}
	return "undid " + first
}

// Tail returns the part after the objects in the sentence about the group.
func (g *group) Tail() string {
	switch change.ReasonKind(g.Reason.GetKind()) {
	case change.ReasonPromotion:
		from := " from " + page.Printable(g.Reason.GetNamespaceKey(), maxShownName)
		if g.Reason.GetRevision() > 0 {
			from += " at revision " + page.Revision(g.Reason.GetRevision())
		}
		return from
	case change.ReasonRestore:
		if g.Reason.GetRevision() > 0 {
			return " as at revision " + page.Revision(g.Reason.GetRevision())
		}
	}
	return ""
}

// Objects counts the objects in words, such as "3 flags, 1 segment".
func (g *group) Objects() string {
	n := make(map[string]int)
	for _, r := range g.Records {
		n[r.GetKind()]++
	}
	var parts []string
	if n[string(change.KindNamespace)] > 0 {
		parts = append(parts, "the namespace")
	}
	for _, k := range []*kind{flagKind, segmentKind} {
		if n[k.name] > 0 {
			parts = append(parts, page.Count(n[k.name], k.name))
		}
	}
	if g.More {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, ", ")
}

// maxNamed limits the keys that are listed in a line, and maxFolded the objects that a
// group lists when it is opened.
const (
	maxNamed  = 6
	maxFolded = 25
)

// Keys names the first objects of the group.
func (g *group) Keys() string {
	keys := lists.Map(g.Records[:min(len(g.Records), maxNamed)], record.GetKey)
	if g.More || len(g.Records) > maxNamed {
		keys = append(keys, "…")
	}
	return strings.Join(keys, ", ")
}

// Folded returns the records that are listed when the group is opened.
func (g *group) Folded() []record { return g.Records[:min(len(g.Records), maxFolded)] }

// Unlisted reports whether Folded leaves any out.
func (g *group) Unlisted() bool { return g.More || len(g.Records) > maxFolded }

// Title is the group in a few words.
func (g *group) Title() string {
	what := g.Objects()
	if len(g.Records) == 1 && !g.More {
		what = g.Records[0].Name()
	}
	return g.Actor.String() + " " + g.Verb() + " " + what + g.Tail()
}

// period returns the heading for changes of the time: the day if it was today or
// yesterday, and otherwise a week or a month.
func period(v *page.Visit, at time.Time) string {
	now := v.Now()
	at = at.In(v.Location())
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, v.Location())
	switch {
	case !at.Before(today):
		return "Today"
	case !at.Before(today.AddDate(0, 0, -1)):
		return "Yesterday"
	case !at.Before(today.AddDate(0, 0, -6)):
		return "Last 7 days"
	case at.Year() == now.Year() && at.Month() == now.Month():
		return "This month"
	case at.Year() == now.Year():
		return at.Format("January")
	}
	return at.Format("January 2006")
}

// clock returns the time of a change below the heading of its period.
func clock(v *page.Visit, at time.Time) string {
	switch at = at.In(v.Location()); period(v, at) {
	case "Today", "Yesterday":
		return at.Format("15:04")
	}
	return at.Format("2 Jan")
}
