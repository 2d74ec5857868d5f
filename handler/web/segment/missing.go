package segment

import (
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// missing returns the error for a segment that does not exist, with a page about it.
func (s *subject) missing(cause error) error {
	if s.At != "" {
		return cause
	}
	return page.MissingError(s.Visit,
		page.Missing{Kind: kindSegment, Key: s.Key, Place: page.PlaceSegments, List: "Segments", Similar: similar}, cause)
}

// maxSimilar limits the segments that may be meant.
const maxSimilar = 3

// similar returns the segments that have the beginning or the end of the text in them, if the
// whole text is in none.
func similar(v *page.Visit, text string) (links []page.Similar, err error) {
	text = strings.TrimSpace(text)
	for _, query := range halves(text) {
		list, err := page.ListSegmentSummaries.Run(v, &guidonv1.ListSegmentSummariesRequest{
			NamespaceKey: v.Key(), Query: `"` + query + `"`, Limit: maxSimilar,
		})
		if err != nil {
			return nil, err
		}
		for _, g := range list.GetSegments() {
			links = append(links, page.Similar{Name: shownName(g), Address: v.In("segments", g.GetKey())})
		}
		if len(links) > 0 {
			break
		}
	}
	return links, nil
}

// minHalf is the length of the shortest text that says what may be meant, in characters.
const minHalf = 3

// halves returns the first and the last half of a text.
func halves(text string) []string {
	text = strings.ReplaceAll(text, `"`, "")
	n := utf8.RuneCountInString(text)
	if n < minHalf+1 || n > page.MaxText {
		return nil
	}
	runes := []rune(text)
	half := max(n/2, minHalf)
	return []string{string(runes[:half]), string(runes[n-half:])}
}
