package segment

import (
	"net/http"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// replace stores a segment in the place of the edited one, unless that has changed since a
// revision.
func (e *editor) replace(g *guidonv1.DocumentSegment, since int64) (*guidonv1.EditResponse, error) {
	return page.ReplaceSegment.Run(e.Visit, &guidonv1.ReplaceSegmentRequest{
		NamespaceKey: e.Visit.Key(), Key: e.Key, Segment: g, UnlessChangedSince: &since, Message: e.draft.Message,
	})
}

// saved sends the visitor to the segment after it was saved.
func (e *editor) saved(r *guidonv1.EditResponse) error {
	return e.Redirect(page.Below("namespaces", e.Visit.Key(), "segments", e.Key) + savedQuery(r.GetRevision()))
}

// savedQuery returns the query of the page that says what was saved.
func savedQuery(revision int64) string { return "?saved=" + page.Revision(revision) }

// storedQuery returns the query of the page if what the visitor saves is stored already: it
// says so if it was the visitor who stored it since the form began, whose answer was lost.
func (e *editor) storedQuery() (string, error) {
	newest, err := page.NewestChanges(e.Visit, kindSegment, e.Key)
	last := newest[e.Key]
	if err != nil || last.GetRevision() <= e.draft.Revision || last.GetActor().GetId() != e.Visitor.ActorID() {
		return "?saved=" + page.NothingSaved, err
	}
	return savedQuery(last.GetRevision()), nil
}

// isStored reports whether the changes of the draft are stored already, though the form began
// before that.
func (e *editor) isStored() bool {
	if e.readonly || len(e.unsaved) > 0 || e.Last.GetRevision() <= e.draft.Revision {
		return false
	}
	began := e.Visit.At(e.draft.Revision)
	content, err := page.GetSegmentContent.Run(e.Visit, &guidonv1.GetSegmentContentRequest{NamespaceKey: began, Key: e.Key})
	return err == nil && e.draft.differs(content.GetSegment())
}

// replyRefused shows the form again with the error of the operation.
func (e *editor) replyRefused(err error) error {
	e.acted.Problems = part.Problems{refusal("constraints", err)}
	if e.acted.Problems.Of("message") != "" {
		return e.replyReview(http.StatusUnprocessableEntity)
	}
	if err := e.readAround(); err != nil {
		return err
	}
	return e.reply(http.StatusUnprocessableEntity)
}

// refusal returns the error of an operation as a problem of a field, or of the message if it
// is about that.
func refusal(field string, err error) part.Problem {
	text := page.Printable(guidon.PublicMessage(err), 600)
	if rule, ok := strings.CutPrefix(text, "invalid field message: "); ok {
		return part.Problem{Field: "message", Message: "The message " + rule + "."}
	}
	return part.Problem{Field: field, Message: page.Sentence(text)}
}

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

// differences returns what saving the draft changes in the segment.
func (d *draft) differences(saved *guidonv1.DocumentSegment) []change.Difference {
	return review.SegmentDifferences(saved, d.document())
}

// differs reports whether saving the draft would change the segment.
func (d *draft) differs(saved *guidonv1.DocumentSegment) bool { return len(d.differences(saved)) > 0 }
