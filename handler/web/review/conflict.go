package review

import (
	"cmp"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Conflict is the model of the page of a conflict.
type Conflict struct {
	*page.Visit
	Details *guidonv1.MergeDetails // of the merge without choices
	Choices choices

	Noun    string // "flag" or "segment"
	ID      string // of the form
	Action  string // the address that it is sent to
	Back    string // the address of the object as it is now, or of the list if it was deleted
	Deleted bool   // there is no such object now
	Began   int64  // the revision that the edit began from
	Confirm bool   // the key of the namespace must be typed

	Draft    templ.Component // the draft as hidden fields
	Mine     templ.Component // the changes of the visitor, for a conflict about the whole object
	Problems part.Problems
}

// reply responds with the page, which has a frame without its main part.
func (p *Conflict) reply(status int, frame page.Page) error {
	frame.Main = p.main()
	p.Visit.Header().Del("ETag")
	return p.Visit.Reply(status, frame)
}

// who returns who changed the object last, or "".
func (p *Conflict) who() string {
	if latest := p.Details.GetLatest(); latest != nil {
		return page.ActorOf(latest.GetActor()).Name
	}
	return ""
}

// heading says whether the object was changed or deleted.
func (p *Conflict) heading() string {
	verb := "changed"
	if p.Deleted {
		verb = "deleted"
	}
	return cmp.Or(p.who(), "Somebody") + " " + verb + " this " + p.Noun + " while you were editing"
}

// began says where both sides stand.
func (p *Conflict) began() string {
	text := "Nothing is lost: your change is here, and nothing of it is saved yet. You began at revision " + page.Revision(p.Began)
	if latest := p.Details.GetLatest(); latest != nil && !p.Deleted {
		text += ", and this " + p.Noun + " is now at " + page.Revision(latest.GetRevision())
	}
	return text + "."
}

// shown returns the conflicts that have a choice each.
func (p *Conflict) shown() []*guidonv1.MergeConflict {
	all := p.Details.GetConflicts()
	return all[:min(len(all), maxShown)]
}

// more returns how many conflicts share a choice.
func (p *Conflict) more() int { return len(p.Details.GetConflicts()) - len(p.shown()) }

// maxParts limits the rows of changes that do not conflict.
const maxParts = 200

// together returns the parts that only one side has changed, and how many more there are.
func (p *Conflict) together() (parts []changedPart, more int) {
	parts = append(p.changedParts(p.Details.GetTheirs(), cmp.Or(p.who(), "Somebody else")), p.changedParts(p.Details.GetMine(), "You")...)
	return parts[:min(len(parts), maxParts)], max(0, len(parts)-maxParts)
}

// meanwhile says that the changes of another user do not conflict with the visitor's.
func (p *Conflict) meanwhile() string {
	return cmp.Or(p.who(), "Somebody else") + " changed " + page.Count(len(p.Details.GetTheirs()), "thing") + " meanwhile. " +
		goWith[len(p.Details.GetTheirs()) == 1]
}

var goWith = map[bool]string{true: "It goes with yours.", false: "They go with yours."}

// nothingLeft reports whether there is nothing to save: both sides are the same.
func (p *Conflict) nothingLeft() bool {
	return len(p.Details.GetConflicts()) == 0 && len(p.Details.GetMine()) == 0
}

// card is one side of a conflict.
type card struct {
	title, under string
	value        string
	none         string // what it says without a value
}

// cards returns the values of a conflict: when the edit began, theirs and mine.
func (p *Conflict) cards(c *guidonv1.MergeConflict) (earlier, saved, edited card) {
	w := c.GetWording()
	earlier.value = page.Printable(w.GetEarlier(), maxText)
	saved.value = page.Printable(w.GetTheirs(), maxText)
	edited.value = page.Printable(w.GetMine(), maxText)
	earlier.title, earlier.under, earlier.none = "When you began", "revision "+page.Revision(p.Began), "Not there"
	saved.title, saved.under, saved.none = cmp.Or(p.who(), "Somebody else"), "saved", "Removed"
	if latest := p.Details.GetLatest(); latest != nil {
		saved.under = "revision " + page.Revision(latest.GetRevision()) + ", " + p.Ago(latest.GetAt().AsTime())
	}
	edited.title, edited.under, edited.none = "You", "not saved", "Removed"
	if c.GetPath() == change.Whole {
		p.wholeCards(&earlier, &saved, &edited)
	}
	if p.Details.GetBaseMissing() || c.GetEarlier() == nil {
		saved.none, edited.none = "Not there", "Not there"
	}
	return earlier, saved, edited
}

// wholeCards are those of a conflict about whether the object exists.
func (p *Conflict) wholeCards(earlier, saved, edited *card) {
	*earlier = card{title: earlier.title, under: earlier.under, value: "As it was"}
	edited.value = "With your change"
	saved.value = "As it is now"
	if p.Deleted {
		saved.value = "Deleted"
	}
}

// result describes the result.
func (p *Conflict) result() string {
	switch who := cmp.Or(p.who(), "the other one"); {
	case len(p.Details.GetConflicts()) > 0 && len(p.Details.GetTheirs())+len(p.Details.GetMine()) > 0:
		return "The result has what you chose, and everything that only one of you changed"
	case len(p.Details.GetConflicts()) > 0:
		return "The result has what you chose"
	case len(p.Details.GetTheirs()) == 0:
		return "The result has your change"
	default:
		return "The result has your change and that of " + who
	}
}

// away is the address to which a draft is left: there the browser forgets it.
func (p *Conflict) away() string {
	if p.Deleted {
		return p.Back
	}
	return p.Back + "?saved=" + page.NothingSaved
}

// backWords are those of the link to the object as it is now.
func (p *Conflict) backWords() string {
	if p.Deleted {
		return "Back to the list"
	}
	return "See the " + p.Noun
}
