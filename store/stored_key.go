package store

import (
	"strings"
	"unicode/utf8"
)

// maxKey is the width of the columns that hold keys, in characters.
const maxKey = 255

// storable reports whether a key can be in the database at all. Other keys are not
// queried: databases differ in how they treat NUL, invalid UTF-8 and strings that are
// too long, and the result is known anyway.
func storable(key string) bool {
	return utf8.RuneCountInString(key) <= maxKey && utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}

// storableText returns the text with NUL and invalid UTF-8, which not every database
// can store, replaced by U+FFFD.
func storableText(text string) string {
	if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// storableKey is storableText, cut to the width of a key.
func storableKey(text string) string {
	text = storableText(text)
	if utf8.RuneCountInString(text) <= maxKey {
		return text
	}
	return string([]rune(text)[:maxKey])
}
