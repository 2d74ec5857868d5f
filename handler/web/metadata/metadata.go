// Package metadata shows the metadata of a flag as rows of keys and values, as people edit
// them, and turns rows into metadata.
package metadata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/handler/web/jsonfault"
)

// Row is a key with its value as people write it: JSON, or plain text where no JSON is meant.
type Row struct{ Key, Value string }

// Rows returns the members of a JSON object, in their order. An empty text has none.
func Rows(object string) []Row {
	if object == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return nil // stored metadata are an object
	}
	var rows []Row
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return rows
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return rows
		}
		rows = append(rows, Row{fmt.Sprint(key), Text(value)})
	}
	return rows
}

// Text returns a JSON value as people write it: a string that cannot be mistaken for another
// kind of value is without quotes.
func Text(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" && strings.TrimSpace(text) == text && !strings.ContainsAny(text, "\r\n") && !meansJSON(text) {
		return text
	}
	return string(value)
}

// Quote returns a text as the value of a row.
func Quote(text string) string {
	quoted, _ := json.Marshal(text) // a string has no error
	return string(quoted)
}

// meansJSON reports whether the text is JSON, or must have been meant as JSON.
func meansJSON(text string) bool {
	return text != "" && strings.ContainsRune(`{["`, rune(text[0])) || json.Valid([]byte(text))
}

// Object returns the JSON object of the rows, or "" if there are none. problem is called
// with the index of each row that cannot be a member, and what is wrong. Rows without key
// and value count as none.
func Object(rows []Row, problem func(row int, message string)) string {
	var b strings.Builder
	seen := make(map[string]bool)
	for i, r := range rows {
		if r.Key == "" && strings.TrimSpace(r.Value) == "" {
			continue
		}
		switch {
		case r.Key == "":
			problem(i, "A key is needed.")
			continue
		case seen[r.Key]:
			problem(i, fmt.Sprintf("The key %s is there twice.", r.Key))
			continue
		}
		seen[r.Key] = true
		value, message := Value(r.Value)
		if message != "" {
			problem(i, message)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(r.Key) // a string has no error
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	if b.Len() == 0 {
		return ""
	}
	return "{" + b.String() + "}"
}

// Value returns the JSON of a value as people write it, or what is wrong with it.
func Value(text string) (value json.RawMessage, message string) {
	trimmed := strings.TrimSpace(text)
	if !meansJSON(trimmed) {
		quoted, _ := json.Marshal(trimmed) // a string has no error
		return quoted, ""
	}
	if message := jsonfault.Of(trimmed); message != "" {
		return nil, message + " For plain text, put it in double quotes."
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, []byte(trimmed)) // Fault found none
	return compact.Bytes(), ""
}
