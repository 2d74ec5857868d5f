package flag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonProblem returns what is wrong with a text that should be JSON, with the line and
// column of the first fault, or "" if nothing is.
func jsonProblem(text string) string {
	var value json.RawMessage
	err := json.Unmarshal([]byte(text), &value)
	if err == nil {
		return ""
	}
	offset := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if open := unclosed(text); open != "" && syntax.Offset >= int64(len(strings.TrimRight(text, " \t\r\n"))) {
			return at(text, len(text)) + open
		}
		offset = max(0, int(syntax.Offset)-1)
	}
	found := "the end"
	if offset < len(text) {
		r, _ := utf8.DecodeRuneInString(text[offset:])
		found = fmt.Sprintf("“%c”", r)
	}
	return at(text, offset) + "This is not JSON: " + found + " cannot stand here."
}

// at returns where the offset is, as the beginning of a sentence.
func at(text string, offset int) string {
	before := text[:offset]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("Line %d, column %d: ", line+1, column+1)
}

// unclosed returns what to add to a text that ends inside of a string, a list or an object,
// or "" if it does not.
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
			open = append(open, c)
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c-2 { // '[' and '{' are two before them
				return ""
			}
			open = open[:len(open)-1]
		}
	}
	switch {
	case quoted:
		return "This text never ends: add \"."
	case len(open) == 0:
		return ""
	case open[len(open)-1] == '[':
		return "This list never ends: add ]."
	}
	return "This object never ends: add }."
}

// indented returns JSON with one member a line. Other text stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// compacted returns JSON without spaces. Other text stays as it is.
func compacted(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// typed returns a text that was in a field and comes back from a form: browsers change line
// ends. If nothing else is different, it is what it was.
func typed(was, text string) string {
	if lineless(was) == lineless(text) && (strings.Contains(was, "\n") || strings.Contains(was, "\r")) {
		return was
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

var lineEnds = strings.NewReplacer("\r", "", "\n", "")

func lineless(text string) string { return lineEnds.Replace(text) }
