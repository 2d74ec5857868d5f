package cli

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"

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

// TimeOr formats t for a table. It returns none if t is zero.
func TimeOr(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}

// Instant returns the time of a timestamp, or the zero time if it is not set.
func Instant(at *timestamppb.Timestamp) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.AsTime()
}

// When returns the time of a timestamp for a table, or a dash if it is not set.
func When(at *timestamppb.Timestamp) string { return TimeOr(Instant(at), "-") }
