package transfer

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of a comparison.
const (
	maxMissing   = 200  // objects that only this namespace has
	comparePage  = 1000 // objects of a page of the comparison
	maxPages     = 25
	maxRestarts  = 3 // if a namespace changes while it is compared
	maxShownName = 300
	maxMenu      = 50 // namespaces to choose from
)

// comparison is the page that compares.
type comparison struct {
	From     string // a reference, as in the address
	FromKey  string
	FromName string
	At       string // the earlier state, or ""
	ToName   string
	Show     string // the kind of changes that is shown; see fieldShow
	selection

	Review   *review.Plan // everything that From has and this namespace has not, or in another way
	Before   *guidonv1.ComparedState
	After    *guidonv1.ComparedState
	Same     int
	Differs  bool
	Missing  []*guidonv1.ComparedObject // the objects that only this namespace has
	MissingN int
	needed   map[string][]string // the names of the flags that need a segment, by the key of that
	Problems part.Problems
}

// showComparison is the page that compares or, without a source, asks for it.
func showComparison(v *page.Visit) error {
	if v.Query().Get(fieldFrom) == "" {
		return choose(v)
	}
	c := newComparison(v, v.Query())
	if done, err := c.read(v); done || err != nil {
		return err
	}
	c.preselect()
	return c.reply(v, http.StatusOK)
}

// newComparison returns the comparison with the source in an address or a form.
func newComparison(v *page.Visit, fields url.Values) *comparison {
	c := &comparison{ToName: page.NamespaceName(v.Namespace), Show: fields.Get(fieldShow), selection: selectionOf(fields)}
	key, at, past := strings.Cut(fields.Get(fieldFrom), "@")
	if c.From = key; past {
		at = moment(v, at)
		c.From += "@" + at
	}
	c.FromKey, c.At = guidon.NamespaceKey(key), page.Printable(at, maxShownName)
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		c.At = v.Instant(t)
	}
	c.FromName = page.Printable(c.FromKey, maxShownName)
	if n := v.NamespaceWith(c.FromKey); n != nil {
		c.FromName = page.NamespaceName(n)
	}
	return c
}

// Restores reports whether the source is an earlier state of the namespace itself.
func (c *comparison) Restores(v *page.Visit) bool { return c.FromKey == v.Key() }

// SourceName returns the source in words.
func (c *comparison) SourceName() string {
	if c.At == "" {
		return c.FromName
	}
	return c.FromName + " at " + c.At
}

// request returns the plan that brings everything over.
func (c *comparison) request(v *page.Visit) *guidonv1.PlanRequest {
	return &guidonv1.PlanRequest{NamespaceKey: v.Key(), SourceNamespaceKey: c.From, Keep: c.Keep}
}

// words are the names of the groups.
func (c *comparison) words(v *page.Visit) review.Words {
	w := review.Words{Changed: "changed", Created: "only in " + c.FromName, Deleted: "only in " + c.ToName}
	if c.Restores(v) {
		w.Created, w.Deleted = "only in the past", "new since"
	}
	return w
}

// read compares, and makes the plan of everything. If the source cannot be read, it asks for
// another one, and reports that this is done.
func (c *comparison) read(v *page.Visit) (done bool, err error) {
	if c.From == v.Key() {
		return true, c.ask(v, http.StatusUnprocessableEntity, fieldAt,
			"Say which earlier state of "+c.ToName+": its revision, or when.")
	}
	switch err := c.compare(v); guidon.CodeOf(err) {
	case guidon.InvalidArgument:
		return true, c.ask(v, http.StatusUnprocessableEntity, fieldAt,
			"“"+c.At+"” is neither a revision, such as 120, nor a time, such as 2026-11-20T14:00.")
	case guidon.NotFound:
		if v.NamespaceWith(c.FromKey) == nil {
			return true, c.ask(v, http.StatusNotFound, fieldSource, "There is no namespace “"+c.FromName+"”.")
		}
		return true, c.ask(v, http.StatusNotFound, fieldAt, c.FromName+" has no state “"+c.At+"”: it is still to come, or its records were removed.")
	default:
		if err != nil {
			return false, err
		}
	}
	c.Review = &review.Plan{Request: c.request(v), Target: v.Namespace, Words: c.words(v)}
	if err := c.Review.Make(v, nil); err != nil {
		return false, err
	}
	c.addNeeded(v)
	return false, nil
}

// ask shows the choice of the source again.
func (c *comparison) ask(v *page.Visit, status int, field, problem string) error {
	_, at, _ := strings.Cut(c.From, "@")
	q := &choice{Namespace: c.FromKey, At: at}
	q.Problems.Add(field, problem)
	return q.reply(v, status)
}

// compare reads the differences between both sides: the counts, and the objects that only
// this namespace has. All pages are about the same two states.
func (c *comparison) compare(v *page.Visit) (err error) {
	for range maxRestarts {
		if err = c.compareOnce(v); guidon.CodeOf(err) != guidon.FailedPrecondition {
			return err
		}
	}
	return err
}

func (c *comparison) compareOnce(v *page.Visit) error {
	c.Missing, c.Differs = nil, false
	request := &guidonv1.CompareRequest{NamespaceKey: v.Key(), With: c.From, Limit: comparePage}
	for range maxPages {
		answer, err := page.CompareStates.Run(v, request)
		if err != nil {
			return err
		}
		c.Before, c.After = answer.GetBefore(), answer.GetAfter()
		c.Same = int(answer.GetFlags().GetUnchanged() + answer.GetSegments().GetUnchanged())
		c.MissingN = int(answer.GetFlags().GetDeleted() + answer.GetSegments().GetDeleted())
		c.Differs = c.Differs || len(answer.GetObjects()) > 0
		for _, o := range answer.GetObjects() {
			if o.GetAction() == string(change.ActionDelete) && len(c.Missing) < maxMissing {
				c.Missing = append(c.Missing, o)
			}
		}
		request.PageToken = answer.GetNextPageToken()
		if request.GetPageToken() == "" || len(c.Missing) >= min(maxMissing, c.MissingN) {
			return nil
		}
	}
	return nil
}

// addNeeded finds out which of the segments that change the flags need. To restore, only the
// missing ones are needed.
func (c *comparison) addNeeded(v *page.Visit) {
	c.needed = make(map[string][]string)
	changes := make(map[string]string)
	for _, p := range c.Review.Answer.GetChanges() {
		if p.GetKind() == string(change.KindSegment) {
			changes[p.GetKey()] = p.GetAction()
		}
	}
	for _, p := range c.Review.Answer.GetChanges() {
		for _, f := range p.GetAfter().GetFlags() {
			for _, key := range page.SegmentKeys(f) {
				action, ok := changes[key]
				if ok && (!c.Restores(v) || action == string(change.ActionCreate)) {
					c.needed[key] = append(c.needed[key], f.GetKey())
				}
			}
		}
	}
}

// maxUsers limits the flags that need a segment and are named.
const maxUsers = 3

// mark marks the rows that can be picked, those that are, and who needs them.
func (c *comparison) mark() {
	names := make(map[string]string)
	for _, row := range c.Review.Rows {
		names[row.ID()] = row.Name
	}
	for i := range c.Review.Rows {
		row := &c.Review.Rows[i]
		row.Pick = row.GetKind() != string(change.KindNamespace)
		row.Picked = c.picked(row.GetKind(), row.GetKey())
		if row.GetKind() != string(change.KindSegment) {
			continue
		}
		users := lists.Map(c.needed[row.GetKey()], func(key string) string { return cmp.Or(names["flag/"+key], key) })
		row.NeededBy = page.Listed(users, maxUsers)
	}
}

// tab is a kind of changes to show.
type tab struct {
	Value, Text string
	Count       int
}

// tabs returns the kinds of changes that there are.
func (c *comparison) tabs() []tab {
	n := make(map[string]int)
	for _, p := range c.Review.Answer.GetChanges() {
		n[p.GetAction()]++
	}
	w := c.Review.Words
	return []tab{
		{"", "All", len(c.Review.Answer.GetChanges()) + c.MissingN},
		{string(change.ActionUpdate), page.Capital(w.Changed), n[string(change.ActionUpdate)]},
		{string(change.ActionCreate), page.Capital(w.Created), n[string(change.ActionCreate)]},
		{string(change.ActionDelete), page.Capital(w.Deleted), c.MissingN},
	}
}

// hidden returns the picked objects of the kind that have no row.
func (c *comparison) hidden(kind change.Kind) (keys []string) {
	for _, p := range c.Review.Answer.GetChanges() {
		has := func(row review.Row) bool { return row.GetKind() == p.GetKind() && row.GetKey() == p.GetKey() }
		if p.GetKind() == string(kind) && c.picked(p.GetKind(), p.GetKey()) && !slices.ContainsFunc(c.Review.Rows, has) {
			keys = append(keys, p.GetKey())
		}
	}
	return keys
}

// reply shows the differences, to select from.
func (c *comparison) reply(v *page.Visit, status int) error {
	c.mark()
	return v.Reply(status, page.Page{
		Title: "Compare", Place: page.PlaceCompare, Main: compareMain(v, c), Modules: []string{"list.js"},
		Crumbs: []page.Crumb{{Text: "Compare"}},
	})
}
