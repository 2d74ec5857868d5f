package page

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon/change"
)

// Member is a member of the metadata of a flag.
type Member struct {
	Key string
	Raw string // the value as JSON
}

// Members returns the members of a JSON object, in their order. Other text has none.
func Members(object string) (all []Member) {
	d := json.NewDecoder(strings.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return all
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return all
		}
		name, _ := key.(string)
		all = append(all, Member{name, string(raw)})
	}
	return all
}

// ObjectOf returns the JSON object with the members, or "" without any.
func ObjectOf(members []Member) string {
	if len(members) == 0 {
		return ""
	}
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = JSONText(m.Key) + ":" + m.Raw
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// Text returns the value if it is a string.
func (m Member) Text() (string, bool) {
	var text string
	if !strings.HasPrefix(m.Raw, `"`) {
		return "", false
	}
	err := json.Unmarshal([]byte(m.Raw), &text)
	return text, err == nil
}

// List returns the value if it is a list of strings.
func (m Member) List() ([]string, bool) {
	if !strings.HasPrefix(m.Raw, "[") {
		return nil, false
	}
	var items []json.RawMessage
	if json.Unmarshal([]byte(m.Raw), &items) != nil {
		return nil, false
	}
	texts := make([]string, len(items))
	for i, item := range items {
		var ok bool
		if texts[i], ok = (Member{Raw: string(item)}).Text(); !ok {
			return nil, false
		}
	}
	return texts, true
}

// Shown returns the value for people: a string without quotes, else JSON on one line.
func (m Member) Shown() string {
	if text, ok := m.Text(); ok {
		return text
	}
	return CompactJSON(m.Raw)
}

// Written returns the value as people write it in a field: a string that cannot be mistaken for
// another kind of value is without quotes.
func (m Member) Written() string {
	text, ok := m.Text()
	if ok && text != "" && strings.TrimSpace(text) == text && !strings.ContainsAny(text, "\r\n") && !meansJSON(text) {
		return text
	}
	return CompactJSON(m.Raw)
}

// Link returns the address that the value is, or "".
func (m Member) Link() string {
	text, ok := m.Text()
	if !ok || !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return ""
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" {
		return ""
	}
	return text
}

// CompactJSON returns JSON on one line. Other text stays as it is.
func CompactJSON(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// JSONText returns a text, or texts, as JSON, in which nothing is escaped without need.
func JSONText(value any) string { return string(change.Encode(value)) }
