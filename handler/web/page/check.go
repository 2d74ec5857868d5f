package page

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxText is the maximum length of names, keys and properties, in characters (contract 4.1).
const MaxText = 255

// TooLong returns the problem of a text with more than so many characters, or "".
func TooLong(text string, limit int) string {
	if n := utf8.RuneCountInString(text); n > limit {
		return Number(limit) + " characters at most, this has " + Number(n) + "."
	}
	return ""
}

// CheckText returns the problem of a name or a key, or "". missing is that of one without any text.
func CheckText(text, missing string) string {
	if strings.TrimSpace(text) == "" {
		return missing
	}
	return TooLong(text, MaxText)
}

// newKey matches the keys that pages give new objects.
var newKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// CheckKey returns the problem of the key of a new object, or "", and a key that may be meant, or "".
func CheckKey(key string) (problem, better string) {
	problem = CheckText(key, "A key is needed.")
	if problem == "" && !newKey.MatchString(key) {
		problem, better = "Letters, digits, - and _ only.", Slug(key)
	}
	if better != "" {
		problem += " Did you mean " + better + "?"
	}
	return problem, better
}
