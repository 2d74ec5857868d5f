package service

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// flagMetadata is what lists show of the metadata of a flag.
type flagMetadata struct {
	owner string
	tags  []string
	// review is the review date as it is written, and due when it has passed: in seconds
	// since 1970. Both are zero if there is none.
	review string
	due    int64
	// text has the texts of metadata with escaped characters, which is not searched as it
	// is stored.
	text string
}

var noMetadata = &flagMetadata{}

func metadataOf(f *guidon.Flag) *flagMetadata {
	if len(f.Metadata) == 0 {
		return noMetadata
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(f.Metadata, &members) != nil {
		return noMetadata
	}
	m := flagMetadata{owner: guidon.Cut(strings.TrimSpace(textOf(members["owner"])), maxSummaryText), tags: tagsOf(members["tags"])}
	if review := textOf(members["review"]); review != "" {
		if due, ok := dueAfter(review); ok {
			m.review, m.due = review, due.Unix()
		}
	}
	if bytes.IndexByte(f.Metadata, '\\') >= 0 {
		m.text = textsOf(f.Metadata)
	}
	if m.owner == "" && m.tags == nil && m.review == "" && m.text == "" {
		return noMetadata
	}
	return &m
}

// textOf returns the text, or "" if the value is not one.
func textOf(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// maxTag limits the length of a tag, in bytes.
const maxTag = 100

// tagsOf returns the tags in a list of texts, or in a text with commas between them: each
// once, and none that is empty.
func tagsOf(value json.RawMessage) (tags []string) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil {
		for _, item := range items {
			tags = append(tags, textOf(item))
		}
	} else {
		tags = strings.Split(textOf(value), ",")
	}
	seen := map[string]bool{"": true}
	var kept []string
	for _, tag := range tags {
		tag = guidon.Cut(strings.TrimSpace(tag), maxTag)
		if !seen[tag] {
			seen[tag] = true
			kept = append(kept, tag)
		}
	}
	return kept
}

// dueAfter returns when the review date has passed: a date without a time at its end, in
// UTC.
func dueAfter(review string) (time.Time, bool) {
	if day, err := time.Parse(time.DateOnly, review); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	at, err := time.Parse(time.RFC3339, review)
	return at, err == nil
}

// overdue reports whether there is a review date that has passed.
func (m *flagMetadata) overdue(now int64) bool { return m.review != "" && m.due <= now }

// snoozed reports whether there is a review date to come.
func (m *flagMetadata) snoozed(now int64) bool { return m.review != "" && m.due > now }

// textsOf returns the texts in the JSON, each on a line of its own.
func textsOf(text json.RawMessage) string {
	var out strings.Builder
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return out.String()
		}
		switch token := token.(type) {
		case string:
			out.WriteString(token + "\n")
		case json.Number:
			out.WriteString(token.String() + "\n")
		}
	}
}
