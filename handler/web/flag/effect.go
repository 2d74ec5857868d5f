package flag

import (
	"github.com/guidonhq/guidon/handler/web/flaginfo"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxMoves limits the sentences about an effect.
const maxMoves = 20

// effectOf returns what changes for people if the flag is saved as f, a sentence for each
// share of them; or nothing if that is not known.
func (s *subject) effectOf(f *guidonv1.DocumentFlag) []string {
	effect, err := previewFlag.Run(s.v, &guidonv1.PreviewFlagRequest{NamespaceKey: s.v.Key(), Key: s.key, Flag: f, PageWords: true})
	if err != nil {
		return nil
	}
	sentences, more := flaginfo.Effect(effect, maxMoves)
	if more {
		return append(sentences, "There are more groups for whom something changes.")
	}
	if len(sentences) == 0 {
		return []string{"Nobody gets anything else."}
	}
	return sentences
}
