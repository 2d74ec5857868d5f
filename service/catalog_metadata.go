package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unique"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxSummaryText limits the texts in summaries, in bytes.
const maxSummaryText = 240

// permanentKey is the member of the metadata of flags that are meant to stay.
const permanentKey = "guidon.permanent"

// flagMetadata has the metadata of a flag that lists use. Owners and tags are shared with
// other flags.
type flagMetadata struct {
	owner unique.Handle[string]
	tags  []unique.Handle[string]
	due   int64 // when the review date has passed, in seconds since 1970; 0 if there is none

	permanent bool // it is meant to stay, whether it is used or not
	// text has the texts of metadata with escaped characters, which is not searched as it
	// is stored.
	text *string
}

var noMetadata = &flagMetadata{owner: unique.Make("")}

func metadataOf(f *guidon.Flag) *flagMetadata {
	members := metadataMembers(f)
	m := flagMetadata{owner: unique.Make(guidon.Shorten(strings.TrimSpace(textOf(members["owner"])), maxSummaryText)),
		tags: tagsOf(members["tags"])}
	if due, dated := dueAfter(textOf(members["review"])); dated {
		m.due = cmp.Or(due.Unix(), -1)
	}
	if bytes.IndexByte(f.Metadata, '\\') >= 0 {
		m.text = new(textsOf(f.Metadata))
	}
	m.permanent = string(members[permanentKey]) == "true"
	if m.owner == noMetadata.owner && m.tags == nil && m.due == 0 && m.text == nil && !m.permanent {
		return noMetadata
	}
	return &m
}

func (m *flagMetadata) tagTexts() []string {
	return lists.Map(m.tags, unique.Handle[string].Value)
}

// metadataMembers returns the members of the metadata, or nil if lists use none of them.
func metadataMembers(f *guidon.Flag) (members map[string]json.RawMessage) {
	for _, name := range []string{`"owner"`, `"tags"`, `"review"`, `"` + permanentKey + `"`} {
		if bytes.Contains(f.Metadata, []byte(name)) {
			_ = json.Unmarshal(f.Metadata, &members) // stored metadata are an object
			return members
		}
	}
	return nil
}

// review returns the review date as it is written, or "" if there is none.
func (f *flagFacts) review() string {
	if f.metadata.due == 0 {
		return ""
	}
	return textOf(metadataMembers(f.flag)["review"])
}

// textOf returns the text, or "" if the value is not one.
func textOf(value json.RawMessage) (text string) {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 { // most
		return string(value[1 : len(value)-1])
	}
	_ = json.Unmarshal(value, &text) // is valid
	return text
}

// maxTag limits the length of a tag, in bytes.
const maxTag = 100

// tagsOf returns the tags in a list of texts, or in a text with commas between them: each
// once, and none that is empty.
func tagsOf(value json.RawMessage) (tags []unique.Handle[string]) {
	for _, text := range tagTexts(value) {
		if text = guidon.Shorten(strings.TrimSpace(text), maxTag); text != "" {
			tags = append(tags, unique.Make(text))
		}
	}
	return lists.Distinct(tags)
}

func tagTexts(value json.RawMessage) (list []string) {
	if len(value) == 0 || value[0] != '[' {
		return strings.Split(textOf(value), ",")
	}
	var items []json.RawMessage
	_ = json.Unmarshal(value, &items) // is valid
	for _, item := range items {
		list = append(list, textOf(item))
	}
	return list
}

// dueAfter returns when the review date has passed: a date without a time at its end, in
// UTC.
func dueAfter(review string) (time.Time, bool) {
	const most = 40 // bytes: time.Parse accepts any number of digits after a decimal point
	if review == "" || len(review) > most {
		return time.Time{}, false
	}
	if day, err := time.Parse(time.DateOnly, review); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	at, err := time.Parse(time.RFC3339, review)
	return at, err == nil
}

// overdue reports whether there is a review date that has passed.
func (m *flagMetadata) overdue(now int64) bool { return m.due != 0 && m.due <= now }

// snoozed reports whether there is a review date to come.
func (m *flagMetadata) snoozed(now int64) bool { return m.due > now }

// has reports whether the word occurs in the metadata of the flag: as they are stored, but
// for their escaped characters.
func (m *flagMetadata) has(word string, f *guidon.Flag) bool {
	if m.text != nil {
		return occursIn(word, *m.text)
	}
	return indexFold(f.Metadata, word) >= 0
}

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
