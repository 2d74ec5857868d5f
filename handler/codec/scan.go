package codec

import (
	"errors"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// maxDepth is how deeply objects and arrays may be nested.
const maxDepth = 64

// The scanner's own errors; explain turns them into errors for callers.
var (
	errDepth = errors.New("nested too deeply")
	errMany  = errors.New("too many values")
)

// scanner reads one JSON value from the start of data, in one pass. It accepts what
// encoding/json accepts, which a fuzz test checks.
type scanner struct {
	data  []byte
	pos   int
	depth int
	left  int // how many more members and elements there may be

	unknown *UnknownField // among the fields read so far, or nil
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// object reads an object. It calls member for each name, which must read the value. The
// name is valid only until member returns.
func (s *scanner) object(member func(name []byte) error) error {
	return s.container('{', '}', func() error {
		if s.peek() != '"' {
			return jsontext.ErrSyntax
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return jsontext.ErrSyntax
		}
		s.pos++
		return member(name)
	})
}

// array reads an array. It calls element for each value, which must read it.
func (s *scanner) array(element func() error) error {
	return s.container('[', ']', element)
}

func (s *scanner) container(open, end byte, item func() error) error {
	if s.peek() != open {
		return jsontext.ErrValue
	}
	if s.depth++; s.depth > maxDepth {
		return errDepth
	}
	s.pos++
	if s.peek() != end {
		for {
			if s.left--; s.left < 0 {
				return errMany
			}
			if err := item(); err != nil {
				return err
			}
			if s.peek() != ',' {
				break
			}
			s.pos++
		}
	}
	if s.peek() != end {
		return jsontext.ErrSyntax
	}
	s.pos++
	s.depth--
	return nil
}

// null reads a null if it is next, and reports whether it was.
func (s *scanner) null() (bool, error) {
	if s.peek() != 'n' {
		return false, nil
	}
	return true, s.literal("null")
}

func (s *scanner) literal(text string) error {
	end := s.pos + len(text)
	if end > len(s.data) || string(s.data[s.pos:end]) != text {
		return jsontext.ErrSyntax
	}
	s.pos = end
	return nil
}

func (s *scanner) boolean() (bool, error) {
	switch s.peek() {
	case 't':
		return true, s.literal("true")
	case 'f':
		return false, s.literal("false")
	}
	return false, jsontext.ErrValue
}

// number reads a number and returns it as written.
func (s *scanner) number() ([]byte, error) {
	if c := s.peek(); c != '-' && !jsontext.IsDigit(c) {
		return nil, jsontext.ErrValue
	}
	n := jsontext.NumberLength(s.data[s.pos:])
	if n == 0 {
		return nil, jsontext.ErrSyntax
	}
	s.pos += n
	return s.data[s.pos-n : s.pos], nil
}

// text reads a string and returns it with the escapes replaced.
func (s *scanner) text() ([]byte, error) {
	if s.peek() != '"' {
		return nil, jsontext.ErrValue
	}
	s.pos++
	start, escaped := s.pos, false
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			raw := s.data[start:s.pos]
			s.pos++
			if escaped {
				return jsontext.Unescape(raw)
			}
			return raw, nil
		case c == '\\':
			escaped = true
			s.pos++ // the escaped byte does not end the string
		case c < ' ':
			return nil, jsontext.ErrSyntax
		}
		s.pos++
	}
	return nil, jsontext.ErrSyntax
}

// skip reads any value and discards it.
func (s *scanner) skip() error {
	var err error
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skip() })
	case '[':
		return s.array(s.skip)
	case '"':
		_, err = s.text()
	case 't', 'f':
		_, err = s.boolean()
	case 'n':
		_, err = s.null()
	default:
		_, err = s.number()
	}
	return err
}
