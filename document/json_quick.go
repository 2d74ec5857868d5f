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
	long   bool    // the lists of the document are read item by item, when they are needed
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
	long := s.long
	s.long = false
	err := s.each(closing, func() (err error) {
		var m member
		if n.kind == object {
			if m, err = s.memberName(); err != nil {
				return err
			}
			s.next()
			s.at++ // the colon
		}
		if long && (m.name == "flags" || m.name == "segments") && s.next() == '[' {
			m.value = s.later(depth - 1)
		} else if m.value, err = s.value(depth); err != nil {
			return err
		}
		if n.kind == list {
			n.items = append(n.items, m.value)
		} else if replaced, ok := n.set(m); ok && s.places != nil {
			n.repeated = append(n.repeated, replaced)
		}
		return nil
	})
	return n, err
}

// each calls read at each item or member up to the closing bracket.
func (s *validJSON) each(closing byte, read func() error) error {
	for s.at++; s.next() != closing; {
		if s.text[s.at] == ',' {
			s.at++
		} else if err := read(); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

// later skips a list, and returns it as one whose items are read when they are needed.
func (s *validJSON) later(depth int) *node {
	own, places := *s, *s.places
	own.places = &places
	s.at += bracketed(s.text[s.at:])
	return &node{kind: list, later: func(use func(*node) error) error {
		return own.each(']', func() error {
			item, err := own.value(depth)
			if err == nil {
				err = use(item)
			}
			return err
		})
	}}
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
