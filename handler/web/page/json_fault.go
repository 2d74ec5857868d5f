package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSONFault returns the syntax error of a text that should be JSON: the line and the column of the
// first fault, and the repair if that is plain. It returns "" if nothing is wrong.
func JSONFault(text string) string {
	if json.Valid([]byte(text)) {
		return ""
	}
	if end := unclosed(text); endsWith(text, end) {
		return placeIn(text, len(text)) + unclosedKinds[end[0]] + " never ends: add " + end + "."
	}
	offset, found := firstFault(text), "the end"
	if offset < len(text) {
		r, _ := utf8.DecodeRuneInString(text[offset:])
		found = fmt.Sprintf("“%c”", r)
	}
	return placeIn(text, offset) + "This is not JSON: " + found + " cannot stand here."
}

// firstFault returns the offset of the first unexpected character, or the length of the text
// if it ends too early.
func firstFault(text string) int {
	var value json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	err := d.Decode(&value)
	if err == nil { // something follows
		rest := text[d.InputOffset():]
		return len(text) - len(strings.TrimLeft(rest, " \t\r\n"))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(0, int(syntax.Offset)-1)
	}
	return len(text)
}

// endsWith reports whether only the end is missing. There may be a comma before it, after which
// something more was meant to follow.
func endsWith(text, end string) bool {
	return end != "" && json.Valid([]byte(strings.TrimSuffix(strings.TrimRight(text, " \t\r\n"), ",")+end))
}

// unclosedKinds are names of the values that a closing character ends.
var unclosedKinds = map[byte]string{'"': "This text", ']': "This list", '}': "This object"}

// placeIn returns where the offset is, as the beginning of a sentence.
func placeIn(text string, offset int) string {
	before := text[:min(offset, len(text))]
	line, column := 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("Line %d, column %d: ", line, column)
}

// maxRepair limits the characters to add. More of them are no plain repair.
const maxRepair = 20

// unclosed returns what to add to a text that ends inside of texts, lists or objects, the
// innermost first, or "" if it does not, or has brackets that are not of a pair.
func unclosed(text string) string {
	var open []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c+2) // '}' and ']' are two after them
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return ""
			}
			open = open[:len(open)-1]
		}
	}
	if quoted {
		open = append(open, '"')
	}
	if len(open) > maxRepair {
		return ""
	}
	slices.Reverse(open)
	return string(open)
}
