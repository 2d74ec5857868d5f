package flag

import (
	"bytes"
	"encoding/json"
	"strings"
)

// indented returns JSON with one member a line. Other text stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// typed returns the text of a field, which had the text was before. Browsers change line
// ends: if nothing else is different, typed returns was.
func typed(was, text string) string {
	if lineless(was) == lineless(text) && (strings.Contains(was, "\n") || strings.Contains(was, "\r")) {
		return was
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

var lineEnds = strings.NewReplacer("\r", "", "\n", "")

func lineless(text string) string { return lineEnds.Replace(text) }
