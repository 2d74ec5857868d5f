package segment

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// conflict is what the page about a draft shows whose segment somebody else has changed.
type conflict struct {
	*subject
	draft  *draft
	record *guidonv1.Change          // the newest one of the segment; nil if it was removed
	theirs *guidonv1.DocumentSegment // the segment as it is now; nil if it was deleted
	diff   string                    // from theirs to the draft
}

// replyConflict shows the draft beside the change of somebody else. Everything that was
// entered is kept. This is the only way to the page.
func (s *subject) replyConflict(d *draft) error {
	c := &conflict{subject: s, draft: d}
	content, state, err := getContent.RunAt(s.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: s.Visit.Key(), Key: s.Key})
	switch {
	case err == nil:
		c.theirs, s.Saved, s.Revision = content.GetSegment(), content.GetSegment(), state.Revision
	case notFound(err):
		s.Saved = d.document()
	default:
		return err
	}
	if c.record, err = newestRecord(s.Visit, s.Key); err != nil {
		return err
	}
	for i := range d.Conditions {
		d.Conditions[i].Open = false
		if c.theirs == nil {
			d.Conditions[i].From = -1
		}
	}
	c.diff, _ = difference(c.theirs, d.document())
	s.Header().Del("ETag")
	s.Reply(http.StatusConflict, s.page("Your change", c.main()))
	return nil
}
