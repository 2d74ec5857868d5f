package document

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// validJSON parses data that is known to be valid JSON, several times as fast as the tokens
// of package encoding/json.
type validJSON struct {
	text   []byte
	at     int
	places *places // finds the places of values, or nil
}

// next skips white space and returns the next byte.
func (s *validJSON) next() byte {
	for s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\r' || s.text[s.at] == '\n' {
		s.at++
	}
	return s.text[s.at]
}

// value reads the next value. Unless depth is 0, the value may have fewer levels than that.
func (s *validJSON) value(depth int) (*node, error) {
	first := s.next()
	if s.places == nil {
		return s.valueFrom(first, depth)
	}
	line, column := s.places.of(s.at)
	n, err := s.valueFrom(first, depth)
	if n != nil {
		n.line, n.column = line, column
	}
	return n, err
}

// valueFrom reads the value whose first byte is next.
func (s *validJSON) valueFrom(first byte, depth int) (*node, error) {
	switch first {
	case '{', '[':
		if depth == 1 {
			return nil, errDepth
		}
		return s.items(max(0, depth-1))
	case '"':
		value, err := s.string()
		return &node{kind: text, text: value, raw: value}, err
	}
	word := string(s.literal())
	switch word {
	case "null":
		return &node{kind: null, raw: word}, nil
	case "true", "false":
		return &node{kind: boolean, text: word, raw: word}, nil
	}
	return &node{kind: number, text: word, raw: word}, nil
}

// literal reads a value without quotes or brackets.
func (s *validJSON) literal() []byte {
	rest := s.text[s.at:]
	if end := bytes.IndexAny(rest, ",]} \t\r\n"); end >= 0 {
		rest = rest[:end]
	}
	s.at += len(rest)
	return rest
}

// string reads a string or the name of a member.
func (s *validJSON) string() (string, error) {
	begin := s.at
	plain := true
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			plain = false
			s.at++
		}
	}
	s.at++
	quoted := s.text[begin:s.at]
	if inner := quoted[1 : len(quoted)-1]; plain && utf8.Valid(inner) {
		return string(inner), nil
	}
	var value string
	err := json.Unmarshal(quoted, &value)
	return value, err
}

// items reads a list or object.
func (s *validJSON) items(depth int) (*node, error) {
	n, closing := &node{kind: list}, byte(']')
	if s.text[s.at] == '{' {
		n.kind, closing = object, '}'
	}
	index := memberIndex{of: n}
	for s.at++; s.next() != closing; {
		if s.text[s.at] == ',' {
			s.at++
			continue
		}
		m, err := member{}, error(nil)
		if n.kind == object {
			if m, err = s.memberName(); err != nil {
				return nil, err
			}
			s.next()
			s.at++ // the colon
		}
		if m.value, err = s.value(depth); err != nil {
			return nil, err
		}
		if n.kind == list {
			n.items = append(n.items, m.value)
		} else if replaced, ok := index.set(m); ok && s.places != nil {
			n.repeated = append(n.repeated, replaced)
		}
	}
	s.at++
	return n, nil
}

// memberName reads the name of a member.
func (s *validJSON) memberName() (m member, err error) {
	if s.places != nil {
		line, column := s.places.of(s.at)
		m.line, m.column = int32(line), int32(column) // #nosec G115 -- of a limited input
	}
	m.name, err = s.string()
	return m, err
}

// memberIndex finds the members of an object while it is being read.
type memberIndex struct {
	of     *node
	byName map[string]int // nil while there are few
}

// manyMembers is the number of members from which a map is faster than a linear search.
const manyMembers = 16

// set adds or replaces a member. Of several members with the same name the last one wins, as
// is usual for JSON. It returns the replaced member, if there is one.
func (p *memberIndex) set(m member) (replaced member, ok bool) {
	n := p.of
	if p.byName == nil && len(n.members) < manyMembers {
		for i := range n.members {
			if n.members[i].name == m.name {
				return p.replace(i, m), true
			}
		}
		n.members = append(n.members, m)
		return member{}, false
	}
	if p.byName == nil {
		p.byName = make(map[string]int, 2*manyMembers)
		for i, m := range n.members {
			p.byName[m.name] = i
		}
	}
	if i, found := p.byName[m.name]; found {
		return p.replace(i, m), true
	}
	p.byName[m.name] = len(n.members)
	n.members = append(n.members, m)
	return member{}, false
}

func (p *memberIndex) replace(index int, m member) (replaced member) {
	replaced = p.of.members[index]
	p.of.members[index] = m
	return replaced
}
