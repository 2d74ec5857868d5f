package store

import (
	"strings"
	"unicode/utf8"
)

// maxKey is the width of the columns that hold keys, in characters.
const maxKey = 255

// storable tells whether a key can be in the database at all. What cannot is not
// asked for: databases differ in what they make of a NUL, of broken UTF-8 and of
// a text that is too long, and the answer is known.
func storable(key string) bool {
	return utf8.RuneCountInString(key) <= maxKey && utf8.ValidString(key) && !strings.ContainsRune(key, 0)
}

// storableText returns the text with what no database stores replaced.
func storableText(text string) string {
	if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// storableKey returns the text cut to the width of a key.
func storableKey(text string) string {
	text = storableText(text)
	if utf8.RuneCountInString(text) <= maxKey {
		return text
	}
	return string([]rune(text)[:maxKey])
}
