package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// Capital returns the text with a capital letter at the beginning.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// maxSentence limits sentences that the API makes, in bytes.
const maxSentence = 4000

// Sentence returns a text of the API, such as that of a warning, as a sentence.
func Sentence(text string) string { return Capital(Printable(text, maxSentence)) + "." }
