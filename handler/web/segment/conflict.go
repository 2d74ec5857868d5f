package segment

import (
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// collision is a draft whose segment another user has changed.
type collision struct {
	*subject
	draft    *draft
	theirs   *guidonv1.DocumentSegment // the segment as it is now; nil if it was deleted
	problems part.Problems
}

// replyConflict responds to a draft that conflicts with the change of another user: it shows both, and
// carries out the buttons of that page. Everything that was entered is kept. This is the only
// way to the page.
func (s *subject) replyConflict(d *draft) error {
	c := &collision{subject: s, draft: d}
	content, state, err := getContent.RunAt(s.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: s.Visit.Key(), Key: s.Key})
	switch {
	case err == nil:
		c.theirs, s.Saved, s.Revision = content.GetSegment(), content.GetSegment(), state.Revision
	case notFound(err):
		s.Saved = d.document()
	default:
		return err
	}
	form, err := s.Visit.Form()
	if err != nil {
		return err
	}
	if verb := page.ActionOf(form).Verb; verb == review.Save || verb == review.GoOn {
		return c.settle(verb)
	}
	return c.show()
}

// merge merges the draft with the changes that others have saved.
func (c *collision) merge(choices []*guidonv1.MergeChoice) (*guidonv1.SegmentMerge, error) {
	return mergeSegment.Run(c.Visit, &guidonv1.MergeSegmentRequest{
		NamespaceKey: c.Visit.Key(), Key: c.Key, Since: c.draft.Revision, Segment: c.draft.document(), Choices: choices, PageWords: true,
	})
}

// refuse responds to a draft that is not valid, or has another error.
func (c *collision) refuse(err error) error {
	if guidon.CodeOf(err) != guidon.InvalidArgument || c.theirs == nil {
		return err
	}
	return (&editor{subject: c.subject, draft: c.draft}).replyRefused(err)
}

func (c *collision) show() error {
	m, err := c.merge(nil)
	if err != nil {
		return c.refuse(err)
	}
	return c.reply(http.StatusConflict, m)
}

// mergeNow merges the draft with the changes that others have saved, and continues editing it.
// The page of the conflict asks for the choices that only the visitor can make.
func (e *editor) mergeNow() error {
	if e.acted.Problems = e.draft.check(e.Saved, e.Location()); len(e.acted.Problems) > 0 {
		if err := e.readAround(); err != nil {
			return err
		}
		return e.reply(http.StatusUnprocessableEntity)
	}
	c := &collision{subject: e.subject, draft: e.draft, theirs: e.Saved}
	m, err := c.merge(nil)
	d := m.GetDetails()
	switch {
	case err != nil:
		return c.refuse(err)
	case len(d.GetConflicts()) > 0 || d.GetLatest().GetRevision() > e.Revision:
		return c.reply(http.StatusConflict, m)
	}
	return c.goOn(e.Revision, m.GetSegment(), d)
}

// settle runs the action of a button of the page: it saves the result, or continues editing it. If
// the segment has changed again, it shows the page again.
func (c *collision) settle(verb string) error {
	form, err := c.Visit.Form()
	if err != nil {
		return err
	}
	open, settled, err := review.Settle(review.ReadChoices(form), c.merge)
	if err != nil {
		return c.refuse(err)
	}
	now, seen := review.Seen(form, open.GetDetails())
	switch {
	case !seen:
		return c.reply(http.StatusConflict, open)
	case settled.GetSegment() == nil: // it stays deleted
		c.Redirect(page.Below("namespaces", c.Visit.Key(), "segments"))
		return nil
	case verb == review.GoOn && c.theirs != nil:
		return c.goOn(now, settled.GetSegment(), settled.GetDetails())
	}
	saved, err := replaceSegment.Run(c.Visit, &guidonv1.ReplaceSegmentRequest{
		NamespaceKey: c.Visit.Key(), Key: c.Key, Segment: settled.GetSegment(), UnlessChangedSince: &now, Message: c.draft.Message,
	})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		return c.show()
	case guidon.InvalidArgument:
		c.problems = part.Problems{refusal("constraints", err)}
		return c.reply(http.StatusUnprocessableEntity, open)
	}
	if err != nil {
		return err
	}
	c.Redirect(page.Below("namespaces", c.Visit.Key(), "segments", c.Key) + savedQuery(saved.GetRevision()))
	return nil
}

// reply responds with the page.
func (c *collision) reply(status int, m *guidonv1.SegmentMerge) error {
	form, err := c.Visit.Form()
	if err != nil {
		return err
	}
	for i := range c.draft.Constraints {
		c.draft.Constraints[i].Open = false
	}
	p := &review.Conflict{
		Visit: c.Visit, Details: m.GetDetails(), Choices: review.ReadChoices(form),
		Noun: "segment", ID: "segment", Action: c.address(), Back: c.address(), Deleted: c.theirs == nil, Began: c.draft.Revision,
		GoesOn: c.theirs != nil, Draft: conflictDraft(c.draft), Mine: review.DifferenceList(c.draft.differences(c.Saved)), Problems: c.problems,
	}
	if p.Deleted {
		p.Back = c.In("segments")
	}
	p.Reply(status, c.page("Your change", nil))
	return nil
}

// goOn makes the merged segment a draft over the segment as it is now.
func (c *collision) goOn(now int64, merged *guidonv1.DocumentSegment, how *guidonv1.MergeDetails) error {
	d := draftOf(merged, now, c.Location())
	d.Naming, d.Message, d.Entity, d.Context = c.draft.Naming, c.draft.Message, c.draft.Entity, c.draft.Context
	d.openLike(c.draft)
	saved := c.theirs.GetConstraints()
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
	e := &editor{subject: c.subject, draft: d, merged: how}
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
