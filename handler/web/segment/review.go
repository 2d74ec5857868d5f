package segment

// replyReview shows the changes of saving the draft.
func (e *editor) replyReview(status int) (err error) {
	if e.effect, err = readEffect(e.Visit, e.Key, e.draft.document()); err != nil {
		return err
	}
	e.changes = e.draft.changes(e.Saved)
	for i := range e.draft.Constraints {
		e.draft.Constraints[i].Open = false
	}
	e.Reply(status, e.page("Review", e.review()))
	return nil
}
