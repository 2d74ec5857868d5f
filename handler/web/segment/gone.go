package segment

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// missingPage is what the page about a segment shows that does not exist.
type missingPage struct {
	*subject
	Deleted *guidonv1.Change // the record of its deletion, or nil
	Similar []*guidonv1.SegmentSummary
}

// replyMissing says that there is no such segment, who deleted it, and what may be meant.
func (s *subject) replyMissing(cause error) error {
	if s.At != "" {
		return cause
	}
	m := &missingPage{subject: s}
	record, err := newestRecord(s.Visit, s.Key)
	if err != nil {
		return err
	}
	if record.GetAction() == "delete" {
		m.Deleted = record
	}
	if m.Similar, err = similar(s.Visit, s.Key); err != nil {
		return err
	}
	s.Event.Err = cause
	header := s.Header()
	header.Del("ETag")
	header.Set("Cache-Control", "no-store")
	s.Reply(http.StatusNotFound, s.page("", m.main()))
	return nil
}

// maxSimilar limits the segments that may be meant.
const maxSimilar = 3

// similar returns the segments that have the beginning or the end of the text in them, if the
// whole text is in none.
func similar(v *page.Visit, text string) ([]*guidonv1.SegmentSummary, error) {
	text = strings.TrimSpace(text)
	for _, query := range halves(text) {
		list, err := listSummaries.Run(v, &guidonv1.ListSegmentSummariesRequest{NamespaceKey: v.Key(), Query: `"` + query + `"`, Limit: maxSimilar})
		if err != nil || len(list.GetSegments()) > 0 {
			return list.GetSegments(), err
		}
	}
	return nil, nil
}

// minHalf is the length of the shortest text that says what may be meant, in characters.
const minHalf = 3

// halves returns the first and the last half of a text.
func halves(text string) []string {
	text = strings.ReplaceAll(text, `"`, "")
	n := utf8.RuneCountInString(text)
	if n < minHalf+1 || n > maxText {
		return nil
	}
	runes := []rune(text)
	half := max(n/2, minHalf)
	return []string{string(runes[:half]), string(runes[n-half:])}
}
