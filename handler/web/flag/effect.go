package flag

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxMoves limits the sentences about an effect.
const maxMoves = 20

// effectOf returns the effect on people if the flag is saved as f, a sentence for each
// share of them; or nothing if that is not known.
func (s *subject) effectOf(f *guidonv1.DocumentFlag) []string {
	sentences, _ := s.preview(&guidonv1.PreviewFlagRequest{Flag: f})
	return sentences
}

// preview returns the effect of the requested change of the flag on people.
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
