package segment

import "github.com/guidonhq/guidon/handler/wire/guidonv1"

// replyReview shows the changes of saving the draft.
func (e *editor) replyReview(status int) (err error) {
	if e.effect, err = readEffect(e.Visit, e.Key, e.draft.document()); err != nil {
		return err
	}
	e.unsaved = e.draft.differences(e.Saved)
	for i := range e.draft.Constraints {
		e.draft.Constraints[i].Open = false
	}
	return e.Reply(status, e.page("Review", e.review()))
}

// documentOf returns a document with only the segment.
func documentOf(g *guidonv1.DocumentSegment) *guidonv1.Document {
	return &guidonv1.Document{Segments: []*guidonv1.DocumentSegment{g}}
}
