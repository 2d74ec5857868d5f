package segment

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/web/page"
)

// maxValues limits the values of a list (contract 4.3).
const maxValues = 100

// itemsOf returns the values of a stored list as texts, and whether it is one. Numbers keep
// their spelling.
func itemsOf(list string, numbers bool) ([]string, bool) {
	if numbers {
		var raw []json.RawMessage
		if json.Unmarshal([]byte(list), &raw) != nil {
			return nil, false
		}
		items := make([]string, len(raw))
		for i, r := range raw {
			items[i] = string(r)
		}
		return items, true
	}
	var items []string
	err := json.Unmarshal([]byte(list), &items)
	return items, err == nil
}

// listOf returns the values as a stored list.
func listOf(items []string, numbers bool) string {
	if numbers {
		return "[" + strings.Join(items, ",") + "]"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if items == nil {
		items = []string{}
	}
	if err := encoder.Encode(items); err != nil {
		panic(err) // texts can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// errList is the error for a text that begins as a JSON list but is invalid.
var errList = errors.New("this JSON list cannot be read: write [\"a\", \"b\"], or values without brackets")

// pasted returns the values in a text: those of a JSON list, or those between commas, spaces
// and line breaks. A value in double quotes may have these in it.
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
	var raw []any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&raw) != nil || decoder.More() {
		return nil, errList
	}
	items := make([]string, len(raw))
	for i, value := range raw {
		switch value := value.(type) {
		case string:
			items[i] = value
		case json.Number:
			items[i] = value.String()
		case bool:
			items[i] = strconv.FormatBool(value)
		default:
			return nil, errList
		}
	}
	return items, nil
}

func isSeparator(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }

func trimSeparators(text string) string { return strings.TrimLeftFunc(text, isSeparator) }

// cutQuoted returns the value in double quotes at the beginning of a text.
func cutQuoted(text string) (value, rest string, ok bool) {
	quoted, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", "", false
	}
	value, rest, ok = strings.Cut(quoted, `"`)
	return value, rest, ok && value != "" && (rest == "" || strings.IndexFunc(rest, isSeparator) == 0)
}

// mergeCounts counts the values that were merged into a list, by outcome.
type mergeCounts struct{ New, Known, Dropped int }

// merge adds the values that the list does not have, as long as there is space.
func merge(items, more []string) ([]string, mergeCounts) {
	known := make(map[string]bool, len(items))
	for _, item := range items {
		known[item] = true
	}
	var did mergeCounts
	for _, item := range more {
		switch {
		case known[item]:
			did.Known++
		case len(items) >= maxValues:
			did.Dropped++
		default:
			known[item] = true
			items = append(items, item)
			did.New++
		}
	}
	return items, did
}

// String returns the counts in words, such as "11 added, 2 were there already".
func (a mergeCounts) String() string {
	if a.New+a.Known+a.Dropped == 0 {
		return ""
	}
	text := page.Number(a.New) + " added"
	switch a.Known {
	case 0:
	case 1:
		text += ", 1 was there already"
	default:
		text += ", " + page.Number(a.Known) + " were there already"
	}
	return text
}
