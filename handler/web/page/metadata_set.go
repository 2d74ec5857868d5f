package page

import (
	"encoding/json"
	"slices"
	"strings"
)

// MemberOf returns the value of a member of a JSON object, or nil if it has none. Of several
// with the same key it is the last one, as for everything that reads metadata.
func MemberOf(object, key string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &members) != nil {
		return nil
	}
	return members[key]
}

// SetMember returns a JSON object with the member set to the value, in its place or at the end.
// The other members stay as they are written.
func SetMember(object, key, value string) string {
	members := Members(object)
	at := -1
	for i := 0; i < len(members); i++ {
		if members[i].Key != key {
			continue
		}
		if at >= 0 { // the last one counts
			members = slices.Delete(members, at, at+1)
			i--
		}
		at = i
	}
	if at < 0 {
		at, members = len(members), append(members, Member{Key: key})
	}
	members[at].Raw = value
	return ObjectOf(members)
}

// WithTag returns the metadata with the tag, which is added to the list or text of tags, or
// "" if these are something else. A tag that is there already, whatever its case, stays.
func WithTag(object, tag string) string {
	value := MemberOf(object, "tags")
	var items []json.RawMessage
	var text string
	switch {
	case len(value) == 0 || string(value) == "null":
		return SetMember(object, "tags", list(nil, tag))
	case json.Unmarshal(value, &text) == nil:
		if slices.ContainsFunc(strings.Split(text, ","), func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), tag) }) {
			return object
		}
		if strings.TrimSpace(text) != "" {
			tag = strings.TrimRight(text, " ,") + ", " + tag
		}
		return SetMember(object, "tags", JSONText(tag))
	case json.Unmarshal(value, &items) == nil:
		for _, item := range items {
			var t string
			if json.Unmarshal(item, &t) == nil && strings.EqualFold(strings.TrimSpace(t), tag) {
				return object
			}
		}
		return SetMember(object, "tags", list(items, tag))
	}
	return ""
}

// list returns the items and the tag as a JSON list.
func list(items []json.RawMessage, tag string) string {
	var b strings.Builder
	for _, item := range items {
		b.Write(item)
		b.WriteByte(',')
	}
	return "[" + b.String() + JSONText(tag) + "]"
}
