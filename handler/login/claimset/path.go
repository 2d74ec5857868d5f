package claimset

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Path says where a value is among the claims. The zero Path is that of no value.
type Path struct{ steps []string }

// ParsePath returns the path for the name of a claim or, if that begins with "/", for a
// JSON pointer (RFC 6901). The empty text gives the zero Path.
func ParsePath(s string) (Path, error) {
	switch {
	case s == "":
		return Path{}, nil
	case s[0] != '/':
		return Path{[]string{s}}, nil
	}
	steps := strings.Split(s[1:], "/")
	for i, step := range steps {
		for _, rest := range strings.Split(step, "~")[1:] {
			if rest == "" || rest[0] != '0' && rest[0] != '1' {
				return Path{}, errors.New(`must be the name of a claim or a JSON pointer, in which "~" is followed by 0 or 1`)
			}
		}
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return Path{steps}, nil
}

// Texts returns the strings in the list at the path, or the string there. All else is
// ignored.
func (s Set) Texts(p Path) []string {
	if len(p.steps) == 0 {
		return nil
	}
	raw := s[p.steps[0]]
	for _, step := range p.steps[1:] {
		raw = member(raw, step)
	}
	if one, ok := text(raw); ok {
		return []string{one}
	}
	var texts []string
	for _, element := range list(raw) {
		if one, ok := text(element); ok {
			texts = append(texts, one)
		}
	}
	return texts
}

// member returns the member of an object or the element of a list, or nil.
func member(raw json.RawMessage, step string) json.RawMessage {
	var members Set
	if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &members) == nil {
		return members[step]
	}
	elements := list(raw)
	i, err := strconv.ParseUint(step, 10, 31)
	if err != nil || i >= uint64(len(elements)) || strconv.FormatUint(i, 10) != step {
		return nil
	}
	return elements[i]
}

// list returns the elements of a list, or nil if raw is none.
func list(raw json.RawMessage) []json.RawMessage {
	var elements []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	return elements
}
