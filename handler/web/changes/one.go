package changes

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
)

// maxDetailed limits the objects of one change that are shown in detail. Others have a
// page of their own in their history.
const maxDetailed = 20

// onePage is the page of one change.
type onePage struct {
	*group
	Details   []detail // of the first objects
	Effects   []review.Effect
	Truncated bool // there may be more effects
	Known     bool // the effects are known
	View      page.DiffView
}

// Detail returns the detail of the record at the index, or nil if it is not shown.
func (p *onePage) Detail(i int) *detail {
	if i >= len(p.Details) {
		return nil
	}
	return &p.Details[i]
}

// Diffs reports whether the page has a diff.
func (p *onePage) Diffs() bool {
	return slices.ContainsFunc(p.Details, func(d detail) bool { return d.Diff != nil })
}

// one is the page of one change.
func one(v *page.Visit) error {
	revision, err := revisionOf(v)
	if err != nil {
		return err
	}
	g, err := groupOf(v, revision)
	if err != nil {
		return err
	}
	if err := addSigns(v, []*group{g}); err != nil {
		return err
	}
	p := &onePage{group: g, View: readDiff(v)}
	for _, r := range g.Records[:min(len(g.Records), maxDetailed)] {
		p.Details = append(p.Details, detailOf(r.Change))
	}
	p.Effects, p.Truncated, p.Known = effectsOfChange(v, g)
	return v.Reply(http.StatusOK, page.Page{
		Title: "Revision " + page.Revision(revision), Place: page.PlaceChanges,
		Crumbs: []page.Crumb{{Text: "Changes", Address: v.In("changes")}, {Text: "Revision " + page.Revision(revision)}},
		Main:   oneMain(v, p),
	})
}

// revisionOf returns the revision in the path.
func revisionOf(v *page.Visit) (int64, error) {
	revision, err := strconv.ParseInt(v.Variable("revision"), 10, 64)
	if err != nil || revision <= 0 {
		return 0, &page.Error{
			Heading: "There is no such revision", Text: "Revisions are numbers, counted from 1. Look for it in Changes.",
			Err: guidon.Errorf(guidon.NotFound, "revision %q not found", page.Printable(v.Variable("revision"), maxShownName)),
		}
	}
	return revision, nil
}

// groupOf returns the changes of the revision, as far as they fit into a page of records.
func groupOf(v *page.Visit, revision int64) (*group, error) {
	changes, more, err := changesOf(v, revision, pageSize, maxCompared)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, noRevision(v, revision)
	}
	g := groupsOf(changes)[0]
	g.More = more
	return g, nil
}

// noRevision returns the error for a revision without records.
func noRevision(v *page.Visit, revision int64) error {
	err := &page.Error{
		Heading: "There is no such revision",
		Text:    page.NamespaceName(v.Namespace) + " is at revision " + page.Revision(v.State.Revision) + ". Look for the change in Changes.",
		Err:     guidon.Errorf(guidon.NotFound, "revision %d not found", revision),
	}
	if revision <= v.State.Revision {
		err.Heading, err.Text = "The records of this revision are gone", prunedText(v)
	}
	return err
}
