package metadata

import (
	"encoding/json"
	"slices"
	"strings"
)

// Member returns the value of a member of a JSON object, or nil if it has none. Of several
// with the same key it is the last one, as for everything that reads metadata.
func Member(object, key string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &members) != nil {
		return nil
	}
	return members[key]
}

// Set returns a JSON object with the member set to the value, in its place or at the end.
// The other members stay as they are written.
func Set(object, key string, value json.RawMessage) string {
	var members []string
	name, _ := json.Marshal(key) // a string has no error
	added := string(name) + ":" + string(value)
	d := json.NewDecoder(strings.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "{" + added + "}" // stored metadata are an object, or empty
	}
	at := -1
	for d.More() {
		token, err := d.Token()
		if err != nil {
			break
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			break
		}
		if token == key {
			if at >= 0 {
				members = slices.Delete(members, at, at+1)
			}
			at = len(members)
			members = append(members, added)
			continue
		}
		quoted, _ := json.Marshal(token) // a string
		members = append(members, string(quoted)+":"+string(raw))
	}
	if at < 0 {
		members = append(members, added)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// WithTag returns the metadata with the tag, which is added to the list or text of tags, or
// "" if these are something else. A tag that is there already, whatever its case, stays.
func WithTag(object, tag string) string {
	value := Member(object, "tags")
	var items []json.RawMessage
	var text string
	switch {
	case len(value) == 0 || string(value) == "null":
		return Set(object, "tags", list(nil, tag))
	case json.Unmarshal(value, &text) == nil:
		if slices.ContainsFunc(strings.Split(text, ","), func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), tag) }) {
			return object
		}
		if strings.TrimSpace(text) != "" {
			tag = strings.TrimRight(text, " ,") + ", " + tag
		}
		return Set(object, "tags", json.RawMessage(Quote(tag)))
	case json.Unmarshal(value, &items) == nil:
		for _, item := range items {
			var t string
			if json.Unmarshal(item, &t) == nil && strings.EqualFold(strings.TrimSpace(t), tag) {
				return object
			}
		}
		return Set(object, "tags", list(items, tag))
	}
	return ""
}

// list returns the items and the tag as a JSON list.
func list(items []json.RawMessage, tag string) json.RawMessage {
	var b strings.Builder
	for _, item := range items {
		b.Write(item)
		b.WriteByte(',')
	}
	return json.RawMessage("[" + b.String() + Quote(tag) + "]")
}
