package flag

import (
	"cmp"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// getReview redirects to the flag: there is nothing to review without a draft, which is in a
// form.
func getReview(v *page.Visit) error {
	return v.Redirect(page.Below("namespaces", v.Key(), "flags", v.Variable("flag")))
}

// postReview responds to a draft of any tab.
func postReview(v *page.Visit, form url.Values) error {
	for _, t := range []*tab{targetingTab, variantsTab, detailsTab} {
		if form.Get("tab") != t.name {
			continue
		}
		e, err := readEdit(v, t)
		if err != nil {
			return err
		}
		a := page.ActionOf(form)
		a.Verb = cmp.Or(a.Verb, "review")
		return review.CarryOut(e, a, form)
	}
	return guidon.Errorf(guidon.InvalidArgument, "invalid field tab: must be the name of a tab")
}

// Review shows the changes that saving the draft would make.
func (e *edit) Review(status int, problems part.Problems) error {
	e.problems, e.unsaved = problems, e.differences()
	e.readEffect()
	draft, err := codec.Marshal(e.editor.result())
	if err != nil {
		return err
	}
	return e.v.Reply(status, e.plainPage("Review your change", e.reviewMain(string(draft))))
}

// documentOf returns a document with only the flag.
func documentOf(f *guidonv1.DocumentFlag) *guidonv1.Document {
	return &guidonv1.Document{Flags: []*guidonv1.DocumentFlag{f}}
}

// maxMoves limits the sentences about an effect.
const maxMoves = 20

// preview returns the effect of the requested change of the flag on people, a sentence for each share
// of them.
func (s *subject) preview(request *guidonv1.PreviewFlagRequest) ([]string, error) {
	request.NamespaceKey, request.Key = s.v.Key(), s.key
	effect, err := page.PreviewFlag.Run(s.v, request)
	if err != nil {
		return nil, err
	}
	sentences, more := review.EffectSentences(effect, maxMoves)
	if more {
		return append(sentences, "There are more groups for whom something changes."), nil
	}
	if len(sentences) == 0 {
		return []string{"Nobody gets anything else."}, nil
	}
	return sentences, nil
}
