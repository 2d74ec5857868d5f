package review

import (
	"net/url"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The verbs of buttons.
const (
	Merge = "merge"    // of a draft: merges the changes that another user has saved
	Save  = "settle"   // of the page: saves the result
	GoOn  = "continue" // of the page: edits the result further
)

// The sides of a conflict.
const (
	mine   = "mine"
	theirs = "theirs"
)

// Fields of the form.
const (
	fieldNow    = "now"           // the revision that the page is about
	fieldOthers = "choice.others" // the side of the conflicts without a choice of their own
)

// maxShown limits the conflicts that have a choice each. The others share one.
const maxShown = 100

func fieldPath(i int) string { return "choice." + strconv.Itoa(i) + ".path" }
func fieldSide(i int) string { return "choice." + strconv.Itoa(i) }

// choices are the sides that a visitor has chosen.
type choices struct {
	sides  map[string]string // by path
	others string
}

// readChoices returns the choices in a form. What was not chosen is the visitor's own.
func readChoices(form url.Values) choices {
	c := choices{sides: map[string]string{}, others: side(form.Get(fieldOthers))}
	for i := 0; i < maxShown && form.Has(fieldPath(i)); i++ {
		c.sides[form.Get(fieldPath(i))] = side(form.Get(fieldSide(i)))
	}
	return c
}

func side(text string) string {
	if text == theirs {
		return theirs
	}
	return mine
}

// of returns the side of the conflict with the index.
func (c choices) of(i int, path string) string {
	if chosen := c.sides[path]; chosen != "" {
		return chosen
	}
	if i < maxShown {
		return mine
	}
	return side(c.others)
}

// Answer is the response of an operation that merges.
type Answer interface {
	proto.Message
	GetDetails() *guidonv1.MergeDetails
}

// settle runs the merge with the choices, after it has run without any to find out what there
// is to choose: open and settled are both results.
func settle[A Answer](c choices, run func(choices []*guidonv1.MergeChoice) (A, error)) (open, settled A, err error) {
	if open, err = run(nil); err != nil || len(open.GetDetails().GetConflicts()) == 0 {
		return open, open, err
	}
	var chosen []*guidonv1.MergeChoice
	for i, conflict := range open.GetDetails().GetConflicts() {
		chosen = append(chosen, &guidonv1.MergeChoice{Path: conflict.GetPath(), Side: c.of(i, conflict.GetPath())})
	}
	settled, err = run(chosen)
	return open, settled, err
}

// seen returns the revision that the page in the form was about, and whether no user has changed
// the object after it.
func seen(form url.Values, d *guidonv1.MergeDetails) (now int64, current bool) {
	now, err := strconv.ParseInt(form.Get(fieldNow), 10, 64)
	return now, err == nil && now > 0 && now <= d.GetCurrentRevision() && d.GetLatest().GetRevision() <= now
}
