package page

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MetadataRow is a key with its value as people write it: JSON, or plain text where no JSON is meant.
type MetadataRow struct{ Key, Value string }

// meansJSON reports whether the text is JSON, or must have been meant as JSON.
func meansJSON(text string) bool {
	return text != "" && strings.ContainsRune(`{["`, rune(text[0])) || json.Valid([]byte(text))
}

// MetadataObject returns the JSON object of the rows, or "" if there are none. problem is called
// with the index of each row that cannot be a member, and what is wrong. Rows without key
// and value count as none.
func MetadataObject(rows []MetadataRow, problem func(row int, message string)) string {
	var members []Member
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
		value, message := MetadataValue(r.Value)
		if message != "" {
			problem(i, message)
			continue
		}
		members = append(members, Member{r.Key, value})
	}
	return ObjectOf(members)
}

// MetadataValue returns the JSON of a value as people write it, or the problem if it is invalid.
func MetadataValue(text string) (value, message string) {
	trimmed := strings.TrimSpace(text)
	if !meansJSON(trimmed) {
		return JSONText(trimmed), ""
	}
	if message := JSONFault(trimmed); message != "" {
		return "", message + " For plain text, put it in double quotes."
	}
	return CompactJSON(trimmed), ""
}
