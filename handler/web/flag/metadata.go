package flag

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// member is a member of the metadata of a flag.
type member struct {
	key string
	raw string // the value as JSON
}

// membersOf returns the metadata in their order. Other text has no members.
func membersOf(f *guidonv1.DocumentFlag) (all []member) {
	d := json.NewDecoder(strings.NewReader(f.GetMetadata()))
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
		all = append(all, member{name, string(raw)})
	}
	return all
}

// text returns the value if it is a string.
func (m member) text() (string, bool) {
	var text string
	if !strings.HasPrefix(m.raw, `"`) {
		return "", false
	}
	err := json.Unmarshal([]byte(m.raw), &text)
	return text, err == nil
}

// list returns the value if it is a list of strings.
func (m member) list() ([]string, bool) {
	if !strings.HasPrefix(m.raw, "[") {
		return nil, false
	}
	var items []json.RawMessage
	if json.Unmarshal([]byte(m.raw), &items) != nil {
		return nil, false
	}
	texts := make([]string, len(items))
	for i, item := range items {
		var ok bool
		if texts[i], ok = (member{raw: string(item)}).text(); !ok {
			return nil, false
		}
	}
	return texts, true
}

// shown returns the value for people: a string without quotes, else JSON on one line.
func (m member) shown() string {
	if text, ok := m.text(); ok {
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(m.raw)) != nil {
		return m.raw
	}
	return compact.String()
}

// link returns the address that the value is, or "".
func (m member) link() string {
	text, ok := m.text()
	if !ok || !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return ""
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" {
		return ""
	}
	return text
}

// metadataText returns the text of a member, or "".
func metadataText(f *guidonv1.DocumentFlag, key string) string {
	for _, m := range membersOf(f) {
		if m.key == key {
			text, _ := m.text()
			return text
		}
	}
	return ""
}

// objectOf returns the metadata with the members, or "" without any.
func objectOf(members []member) string {
	if len(members) == 0 {
		return ""
	}
	var b bytes.Buffer
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(m.key))
		b.WriteByte(':')
		b.WriteString(m.raw)
	}
	return "{" + b.String() + "}"
}

// quoted returns the text as JSON, in which nothing is escaped without need.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // strings can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxInline limits how much of a long value a page shows, in bytes.
const maxInline = 2 << 10

// inline returns the beginning of a value, and whether that is all of it.
func inline(text string) (beginning string, all bool) {
	if len(text) <= maxInline {
		return text, true
	}
	return strings.ToValidUTF8(text[:maxInline], ""), false
}
