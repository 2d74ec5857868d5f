package cli

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// FlagKind returns the word for flags of the type.
func FlagKind(t flipt.FlagType) string {
	if t == flipt.FlagType_BOOLEAN_FLAG_TYPE {
		return "boolean"
	}
	return "variant"
}

// Printable returns a text from the service for a terminal. One that could control it is quoted.
func Printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Percent returns a percentage in words.
func Percent(p float32) string {
	return strconv.FormatFloat(float64(p), 'f', -1, 32) + "%"
}

// OrDash returns the text, or a dash instead of an empty one.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
