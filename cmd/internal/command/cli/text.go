package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
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

// ActorName returns the name of the actor, or else the id.
func ActorName(a *guidonv1.Actor) string { return Printable(cmp.Or(a.GetName(), a.GetId())) }

// Percent returns a percentage in words.
func Percent(p float32) string {
	return strconv.FormatFloat(float64(p), 'f', -1, 32) + "%"
}

// YesOrDash returns yes, or a dash for false.
func YesOrDash(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

// OrDash returns the text, or a dash instead of an empty one.
func OrDash(text string) string {
	return cmp.Or(text, "-")
}

// Tree prints lines with branches in front.
type Tree struct {
	Out    *bufio.Writer
	indent string
}

// Branch prints a line, and lets below print those that belong to it.
func (t *Tree) Branch(last bool, line string, below func(t *Tree)) {
	mark, indent := "├─ ", "│  "
	if last {
		mark, indent = "└─ ", "   "
	}
	fmt.Fprintf(t.Out, "%s%s%s\n", t.indent, mark, line)
	if below != nil {
		below(&Tree{t.Out, t.indent + indent})
	}
}

// Mark returns a check mark for a match, and otherwise a cross.
func Mark(matched bool) string {
	if matched {
		return "✓"
	}
	return "✗"
}
