package page

import (
	"strings"
	"unicode"
)

// Printable returns the text for people: on one line, without characters that are not
// visible or change the direction of the text, and at most limit bytes long.
func Printable(text string, limit int) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r): // the latter includes format characters
			continue
		case unicode.IsSpace(r):
			r = ' '
		}
		if b.Len()+len(string(r)) > limit {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
