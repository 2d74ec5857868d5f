package segment

import (
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// edit returns the draft as one of an object that another user may have changed.
func (e *editor) edit() *review.Edit[*guidonv1.SegmentMerge] {
	d := e.draft
	out := &review.Edit[*guidonv1.SegmentMerge]{
		Conflict: review.Conflict{
			Visit: e.Visit, Noun: "segment", ID: "segment", Action: e.address(), Back: e.address(), Began: d.Revision,
			Draft: conflictDraft(d), Mine: review.DifferenceList(d.differences(e.Saved)),
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
		Saved: e.saved, GoOn: e.goOn, Refuse: e.replyRefused,
	}
	if !e.deleted {
		out.Now = e.Revision
	}
	return out
}

// readDeleted reads the segment of a draft that does not exist any more, as it was when the
// visitor began.
func (s *subject) readDeleted(d *draft) {
	s.Saved, s.deleted = d.document(), true
	began := s.Visit.At(d.Revision)
	if content, err := page.GetSegmentContent.Run(s.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: began, Key: s.Key}); err == nil {
		s.Saved = content.GetSegment()
	}
}

// mergeNow merges the draft with the changes that others have saved, and continues editing it.
func (e *editor) mergeNow() error {
	if e.acted.Problems = e.draft.check(e.Saved, e.Location()); len(e.acted.Problems) > 0 {
		if err := e.readAround(); err != nil {
			return err
		}
		return e.reply(http.StatusUnprocessableEntity)
	}
	return e.edit().MergeNow()
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
	e.draft, e.merged = d, m.GetDetails()
	if err := e.readAround(); err != nil {
		return err
	}
	return e.reply(http.StatusOK)
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
