package review

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The fields of a review.
const (
	FieldDigest  = "digest"    // of the plan that was seen
	FieldSeen    = "seen"      // the objects in it, each with the digest of its change
	FieldMessage = "message"   // why it is done
	FieldConfirm = "namespace" // the key of a namespace that asks before changes
)

// Plan is a plan with its changes, before it is applied.
type Plan struct {
	Request *guidonv1.PlanRequest
	Target  *flipt.Namespace // that changes; nil if it does not exist yet
	Words   Words
	Text    string // of the file with the document, or ""
	Limit   int    // of the rows that are shown; 0 means MaxRows

	Answer     *guidonv1.PlanResponse // nil if there is none
	Rows       []Row
	Others     []Effect // on flags that the plan itself does not change
	Warnings   []string // about objects without a row
	Gone       []string // the objects that the plan had that was seen, and this one has not
	Impossible []string // why there is no plan
	Moved      bool     // the plan is not the one that was seen, because something was saved
	Message    string
	Confirmed  string // the text that was typed to confirm
	Problems   part.Problems
}

// Words are the names of the groups of a plan on pages.
type Words struct{ Changed, Created, Deleted string }

// Make makes the plan. The objects that are not as in the form, which may be nil, are
// marked. A plan that is not possible is no error: [Plan].Impossible says why.
func (r *Plan) Make(v *page.Visit, form url.Values) error {
	r.Request.WithEffects, r.Request.PageWords = true, true
	plan, err := page.MakePlan.Run(v, r.Request)
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		r.Refuse(err)
		return nil
	}
	if err != nil {
		return err
	}
	r.Answer = plan
	var seen map[string]string
	if len(form[FieldSeen]) > 0 {
		seen = Seen(form[FieldSeen])
	}
	r.addRows(seen)
	return r.addSigns(v)
}

// Refuse keeps why there is no plan, with the places in the text of the document.
func (r *Plan) Refuse(err error) {
	r.Impossible = nil
	places := make(map[string]string)
	if text := []byte(r.Text); len(text) > 0 {
		for _, f := range document.Lint(text, document.FormatOfText(text), document.RejectUnknown).Findings {
			if f.Line > 0 {
				places[f.Path+": "+f.Message] = fmt.Sprintf("Line %s, column %s: ", page.Number(f.Line), page.Number(f.Column))
			}
		}
	}
	for line := range strings.Lines(guidon.PublicMessage(err)) {
		if line = strings.TrimSpace(line); line != "" {
			r.Impossible = append(r.Impossible, places[line]+ProblemText(line))
		}
	}
}

// Asks reports whether the key of the namespace must be typed.
func (r *Plan) Asks() bool { return r.Target.GetConfirmChanges() }

// Empty reports whether there is nothing to apply.
func (r *Plan) Empty() bool { return r.Answer == nil || len(r.Answer.GetChanges()) == 0 }

// Submit applies the plan that the form has seen. It returns the new revision. Otherwise
// that is 0, and the review must be shown again with the status.
func (r *Plan) Submit(v *page.Visit, form url.Values) (revision int64, status int, err error) {
	r.Message, r.Confirmed = strings.TrimSpace(form.Get(FieldMessage)), strings.TrimSpace(form.Get(FieldConfirm))
	if r.Asks() && r.Confirmed != r.Target.GetKey() {
		r.Problems.Add(FieldConfirm, "Type the key of the namespace: "+r.Target.GetKey()+".")
		return 0, http.StatusUnprocessableEntity, r.Make(v, form)
	}
	answer, err := Apply(v, r.Request, form.Get(FieldDigest), r.Message)
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition:
		r.Moved = true
		return 0, http.StatusConflict, r.Make(v, form)
	case guidon.InvalidArgument:
		if strings.HasPrefix(guidon.PublicMessage(err), "invalid field message") {
			r.Problems.Add(FieldMessage, MessageProblem)
			return 0, http.StatusUnprocessableEntity, r.Make(v, form)
		}
		r.Refuse(err)
		return 0, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if len(answer.GetChanges()) == 0 { // so there is no new revision
		return 0, http.StatusOK, r.Make(v, form)
	}
	return answer.GetRevision(), 0, nil
}

// MessageProblem is the problem of an invalid message.
const MessageProblem = "1,000 characters at most, on one line."

// Apply applies the plan of the request with the digest.
func Apply(v *page.Visit, q *guidonv1.PlanRequest, digest, message string) (*guidonv1.PlanResponse, error) {
	return page.ApplyPlan.Run(v, &guidonv1.ApplyRequest{
		NamespaceKey: q.GetNamespaceKey(), Document: q.GetDocument(), SourceNamespaceKey: q.GetSourceNamespaceKey(), Mode: q.GetMode(),
		FlagKeys: q.GetFlagKeys(), SegmentKeys: q.GetSegmentKeys(), WithoutSegments: q.GetWithoutSegments(), Keep: q.GetKeep(),
		Undo: q.GetUndo(), Digest: digest, Message: message,
	})
}
