package cli

import (
	"cmp"
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

// Node is a line of a tree, with those that belong to it.
type Node struct {
	Line  string
	Below []Node
}

// Leaf returns the node of a line to which no others belong.
func Leaf(line string) Node { return Node{Line: line} }

// Tree returns the lines of the nodes, with branches in front.
func Tree(nodes []Node) string {
	var text strings.Builder
	for i, n := range nodes {
		mark, indent := "├─ ", "│  "
		if i == len(nodes)-1 {
			mark, indent = "└─ ", "   "
		}
		text.WriteString(mark + n.Line + "\n")
		for line := range strings.Lines(Tree(n.Below)) {
			text.WriteString(indent + line)
		}
	}
	return text.String()
}

// Mark returns a check mark for a match, and otherwise a cross.
func Mark(matched bool) string {
	if matched {
		return "✓"
	}
	return "✗"
}
