package segment

import (
	"cmp"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Editing returns the draft as one of an object that another user may have changed.
func (e *editor) Editing() *review.Edit[*guidonv1.SegmentMerge] {
	d := e.draft
	out := &review.Edit[*guidonv1.SegmentMerge]{
		Conflict: review.Conflict{
			Visit: e.Visit, Noun: "segment", ID: "segment", Action: e.address(), Back: e.address(), Began: d.Revision,
			Confirm: e.takesKey() && e.confirmed != e.Visit.Key(), Draft: conflictDraft(d), Mine: review.DifferenceList(d.differences(e.base)),
		},
		Frame: e.page("Your change", nil), List: []string{"namespaces", e.Visit.Key(), "segments"},
		Merge: func(choices []*guidonv1.MergeChoice) (*guidonv1.SegmentMerge, error) {
			return page.MergeSegment.Run(e.Visit, &guidonv1.MergeSegmentRequest{
				NamespaceKey: e.Visit.Key(), Key: e.Key, Since: d.Revision, Segment: d.document(), Choices: choices, PageWords: true,
			})
		},
		Exists: func(m *guidonv1.SegmentMerge) bool { return m.GetSegment() != nil },
		Replace: func(m *guidonv1.SegmentMerge, since int64) (*guidonv1.EditResponse, error) {
			return e.replace(m.GetSegment(), since)
		},
		Saved: func(r *guidonv1.EditResponse) error { return review.SavedAt(e.Visit, r, "segments", e.Key) },
		GoOn:  e.goOn, Refuse: e.refuse,
	}
	if !e.Gone() {
		out.Now = e.Revision
	}
	return out
}

// beginning returns the segment as it was when the visitor began. If that is not known any more, it is
// as it is now: saving is then a conflict anyway.
func (e *editor) beginning() (*guidonv1.DocumentSegment, error) {
	if e.Saved != nil && !e.stale() {
		return e.Saved, nil
	}
	began := e.Visit.At(e.draft.Revision)
	content, err := page.GetSegmentContent.Run(e.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: began, Key: e.Key})
	if err == nil || guidon.CodeOf(err) == guidon.Unavailable {
		return content.GetSegment(), err
	}
	return cmp.Or(e.Saved, e.draft.document()), nil
}

// goOn makes the merged segment a draft over the segment as it is now.
func (e *editor) goOn(now int64, m *guidonv1.SegmentMerge) error {
	merged, saved := m.GetSegment(), e.Saved.GetConstraints()
	d := draftOf(merged, now, e.Location())
	d.Naming, d.Message, d.Entity, d.Context = e.draft.Naming, e.draft.Message, e.draft.Entity, e.draft.Context
	d.openLike(e.draft)
	taken := make(map[int]bool)
	pair := func(same func(i, j int) bool) {
		for i := range d.Constraints {
			for j := range saved {
				if d.Constraints[i].From < 0 && !taken[j] && same(i, j) {
					d.Constraints[i].From, taken[j] = j, true
				}
			}
		}
	}
	for i := range d.Constraints {
		d.Constraints[i].From = -1
	}
	pair(func(i, j int) bool { return proto.Equal(merged.GetConstraints()[i], saved[j]) })
	pair(func(i, j int) bool { return merged.GetConstraints()[i].GetProperty() == saved[j].GetProperty() })
	e.draft, e.base, e.merged = d, e.Saved, m.GetDetails()
	return e.Show(http.StatusOK, nil)
}

// openLike opens the constraints that are open in another draft, as far as they are the same.
func (d *draft) openLike(o *draft) {
	for i := range o.Constraints {
		if !o.Constraints[i].Open {
			continue
		}
		for j := range d.Constraints {
			if !d.Constraints[j].Open && proto.Equal(d.Constraints[j].document(), o.Constraints[i].document()) {
				d.Constraints[j].Open = true
				break
			}
		}
	}
}
