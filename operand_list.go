package guidon

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

var errListItem = errors.New("an item is neither a text nor a number nor a boolean")

// parseList returns the items of a JSON array of texts, numbers and booleans, as texts.
func parseList(text string) ([]string, error) {
	items, err := listItems(text)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(items))
	for _, item := range items {
		text, scalar := itemText(item)
		if !scalar {
			return nil, errListItem
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func listItems(text string) (items []json.RawMessage, err error) {
	err = json.Unmarshal([]byte(text), &items)
	if err == nil && items == nil {
		err = errListItem // null
	}
	return items, err
}

// itemText returns an item of a JSON array as text. It reports false for null, an object or an
// array.
func itemText(item json.RawMessage) (text string, scalar bool) {
	switch item[0] {
	case '"':
		return text, json.Unmarshal(item, &text) == nil
	case 'n', '{', '[':
		return "", false
	}
	return string(item), true
}

// list returns the matcher of values that are lists. A value that is not a JSON array counts
// as a list of itself, and items that are not texts, numbers or booleans are ignored.
func (o *Operator) list(want []string) matcher {
	if o.every {
		return func(value string) bool {
			has := setOf(valueTexts(value))
			return !slices.ContainsFunc(want, func(text string) bool { return !has[text] })
		}
	}
	wanted := setOf(want)
	return func(value string) bool {
		return slices.ContainsFunc(valueTexts(value), func(text string) bool { return wanted[text] })
	}
}

func valueTexts(value string) []string {
	if !strings.HasPrefix(strings.TrimLeft(value, " \t\r\n"), "[") {
		return []string{value}
	}
	items, err := listItems(value)
	if err != nil {
		return []string{value}
	}
	var texts []string
	for _, item := range items {
		if text, scalar := itemText(item); scalar {
			texts = append(texts, text)
		}
	}
	return texts
}
