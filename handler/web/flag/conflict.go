package flag

import (
	"net/http"
)

// conflict responds to a form that cannot be saved because somebody else has changed the
// flag since: 409, with everything that was entered. It is the one place that decides how
// conflicts are resolved.
func conflict(e *edit) error {
	g, err := readSegments(e.v, e.v.Key(), e.editor.segmentKeys())
	if err != nil {
		return err
	}
	e.v.Reply(http.StatusConflict, e.plainPage("Your change was not saved", conflictMain(e, e.editor.differences(g))))
	return nil
}

// seen returns the revision of the flag that the page of a conflict is about.
func (e *edit) seen() int64 {
	if e.last != nil {
		return max(e.revision, e.last.GetRevision())
	}
	return e.revision
}
