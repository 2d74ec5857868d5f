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

// isStored reports whether the changes of the draft are stored already, though the form began
// before that.
func (e *editor) isStored() bool {
	return !e.readonly && e.stale() && len(e.unsaved) > 0 && e.Editing().Stored()
}

// refuse shows the form again with the error of the operation.
func (e *editor) refuse(err error) error {
	problems := part.Problems{refusal("constraints", err)}
	if problems.Of("message") != "" {
		return e.Review(http.StatusUnprocessableEntity, problems)
	}
	return e.Show(http.StatusUnprocessableEntity, problems)
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

// Review shows the changes of saving the draft.
func (e *editor) Review(status int, problems part.Problems) (err error) {
	e.acted.Problems = problems
	if e.effect, err = readEffect(e.Visit, e.Key, e.draft.document()); err != nil {
		return err
	}
	e.unsaved = e.draft.differences(e.base)
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
