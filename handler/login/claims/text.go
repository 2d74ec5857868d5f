package claims

import (
	"unicode"
	"unicode/utf8"
)

// MaxText is the maximum length of names and ids in claims, in characters.
const MaxText = 255

// IsName reports whether the text can be a name or an id: 1 to [MaxText] characters that
// are all [IsClean].
func IsName(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= MaxText && IsClean(text)
}

// IsClean reports whether the text is free of characters that hide what it says: control
// characters, line separators, those that change the direction of writing, and the
// replacement for characters that could not be decoded, by which different texts are
// equal.
func IsClean(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return false
		}
	}
	return true
}

// Texts returns the strings of an array, or the one string that the value is, each once.
// It skips other values, and strings that are not valid.
func Texts(value any, valid func(string) bool) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	var texts []string
	seen := map[string]bool{}
	for _, value := range values {
		text, ok := value.(string)
		if ok && !seen[text] && valid(text) {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}
