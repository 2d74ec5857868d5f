package segment

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxValues limits the values of a list (contract 4.3).
const maxValues = 10_000

// itemsOf returns the values of a stored list of the type as texts, and whether it is one.
// Numbers keep their spelling.
func itemsOf(list string, t flipt.ComparisonType) ([]string, bool) {
	switch t {
	case typeList:
		items, err := pastedJSON(list)
		return items, err == nil
	case typeNumber:
		var raw []json.RawMessage
		if json.Unmarshal([]byte(list), &raw) != nil {
			return nil, false
		}
		return lists.Map(raw, func(r json.RawMessage) string { return string(r) }), true
	}
	var items []string
	err := json.Unmarshal([]byte(list), &items)
	return items, err == nil
}

// listOf returns the values as a stored list of the type.
func listOf(items []string, t flipt.ComparisonType) string {
	if t == typeNumber {
		return "[" + strings.Join(items, ",") + "]"
	}
	if items == nil {
		items = []string{}
	}
	return page.JSONText(items)
}

// linesOf returns the values as lines, from which [pasted] returns them again.
func linesOf(items []string) string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = item
		if item == "" || strings.ContainsRune(`"[`, rune(item[0])) || strings.ContainsFunc(item, needsQuotes) {
			lines[i] = page.JSONText(item)
		}
	}
	return strings.Join(lines, "\n")
}

func needsQuotes(r rune) bool { return isSeparator(r) || unicode.IsControl(r) }

// errList is the error for a text that begins as a JSON list but is invalid.
var errList = errors.New("this JSON list cannot be read: write [\"a\", \"b\"], or values without brackets")

// pasted returns the values in a text: those of a JSON list, or those between commas, spaces
// and line breaks. A value in double quotes, as JSON has it, may have these in it.
func pasted(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		return pastedJSON(text)
	}
	var items []string
	for text = trimSeparators(text); text != ""; text = trimSeparators(text) {
		var item string
		if quoted, rest, ok := cutQuoted(text); ok {
			item, text = quoted, rest
		} else if end := strings.IndexFunc(text, isSeparator); end >= 0 {
			item, text = text[:end], text[end:]
		} else {
			item, text = text, ""
		}
		items = append(items, item)
	}
	return items, nil
}

func pastedJSON(text string) ([]string, error) {
	list := (&guidon.Constraint{Type: guidon.ListComparison, Operator: guidon.OpAnyOf, Value: text}).Operand()
	if !list.Valid {
		return nil, errList
	}
	return list.Texts, nil
}

func isSeparator(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }

func trimSeparators(text string) string { return strings.TrimLeftFunc(text, isSeparator) }

// cutQuoted returns the value in double quotes at the beginning of a text.
func cutQuoted(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&value) != nil {
		return "", "", false
	}
	rest = text[decoder.InputOffset():]
	return value, rest, rest == "" || strings.IndexFunc(rest, isSeparator) == 0
}
