package codec

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
)

// List is a list of a message that [UnmarshalStream] hands over by the element.
type List struct {
	Reset func()                     // the list begins, or is another one than before
	Add   func(element []byte) error // the JSON of an element, good until Add returns
}

// Bounds of what [UnmarshalStream] holds at a time: an element, and all that is not
// in one of the lists.
const (
	maxElement = 32 << 20
	maxRest    = 4 << 20
)

// UnmarshalStream is [Unmarshal] from a reader, for a message with long lists. They
// do not become part of m: lists has what becomes of their elements, by the path of
// names in camelCase, such as "document.flags". Whatever else there is becomes part
// of m, by the rules of Unmarshal.
//
// An error of the reader is returned as it is.
func UnmarshalStream(r io.Reader, m proto.Message, values int, lists map[string]List) error {
	s := &stream{from: r, left: values, most: values, lists: lists}
	if s.peek() == 0 && s.pos == len(s.buf) {
		if s.readErr == io.EOF {
			return nil
		}
		return s.readErr
	}
	if s.peek() != '{' {
		value, err := s.raw()
		if err != nil {
			return err
		}
		return Unmarshal(value, m, values)
	}
	if err := s.object(""); err != nil {
		return err
	}
	return Unmarshal(s.rest.Bytes(), m, values)
}

// stream reads JSON by the piece. It finds where values begin and end; whether they
// are well-formed is for whoever decodes them.
type stream struct {
	from    io.Reader
	buf     []byte
	pos     int
	dropped int64 // bytes before held
	readErr error // of from, its end included
	left    int   // how many more members and elements there may be
	most    int
	lists   map[string]List
	rest    bytes.Buffer // what is in none of the lists
}

// more reads on, and reports whether there is more. What has been read before pos is
// let go.
func (s *stream) more() bool {
	if s.pos > 0 {
		n := copy(s.buf, s.buf[s.pos:])
		s.dropped += int64(s.pos)
		s.buf, s.pos = s.buf[:n], 0
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = slices.Grow(s.buf, max(64<<10, len(s.buf)))
	}
	for s.readErr == nil {
		n, err := s.from.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.readErr = s.buf[:len(s.buf)+n], err
		if n > 0 {
			return true
		}
	}
	return false
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *stream) peek() byte {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c
			}
		}
		if !s.more() {
			return 0
		}
	}
}

// malformed returns the error for the byte at pos, or for the end of the input.
func (s *stream) malformed() error {
	switch {
	case s.pos < len(s.buf) || s.readErr == nil:
		return guidon.Errorf(guidon.InvalidArgument, "json body is malformed at byte %d", s.dropped+int64(s.pos)+1)
	case s.readErr != io.EOF:
		return s.readErr
	}
	return guidon.Errorf(guidon.InvalidArgument, "unexpected EOF")
}

// raw returns the next value as it is written. It is good until the next call.
func (s *stream) raw() ([]byte, error) {
	if s.peek() == 0 {
		return nil, s.malformed()
	}
	depth, quoted, escaped := 0, false, false
	for at := 0; ; at++ {
		if s.pos+at == len(s.buf) {
			if at > maxElement {
				return nil, guidon.Errorf(guidon.TooLarge, "json body has a value of more than %d MiB", maxElement>>20)
			}
			if !s.more() {
				if depth == 0 && !quoted && s.readErr == io.EOF {
					return s.cut(at) // the end ends a number or a word
				}
				s.pos += at
				return nil, s.malformed()
			}
		}
		switch c := s.buf[s.pos+at]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return s.cut(at + 1)
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
			s.left--
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return s.cut(at)
			}
			if depth == 0 {
				return s.cut(at + 1)
			}
		case c == ',':
			if s.left--; depth == 0 {
				return s.cut(at)
			}
		case depth == 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return s.cut(at)
		}
	}
}

// cut returns the next n bytes and goes on behind them.
func (s *stream) cut(n int) ([]byte, error) {
	if n == 0 {
		return nil, s.malformed()
	}
	value := s.buf[s.pos : s.pos+n]
	s.pos += n
	return value, s.checkValues()
}

func (s *stream) tooMany() error {
	return tooMany(s.most)
}

// enough returns an error where there are more values than there may be.
func (s *stream) checkValues() error {
	if s.left < 0 {
		return s.tooMany()
	}
	return nil
}

// object reads an object whose path ends in a dot, or is empty.
func (s *stream) object(path string) error {
	if err := s.take('{'); err != nil {
		return err
	}
	s.rest.WriteByte('{')
	for first := true; s.peek() != '}'; first = false {
		if !first {
			if err := s.take(','); err != nil {
				return err
			}
		}
		if err := s.member(path); err != nil {
			return err
		}
		if s.rest.Len() > maxRest {
			return guidon.Errorf(guidon.TooLarge, "json body has more than %d MiB beside its lists", maxRest>>20)
		}
	}
	s.pos++
	s.rest.WriteByte('}')
	return nil
}

func (s *stream) member(path string) error {
	if s.left--; s.left < 0 {
		return s.tooMany()
	}
	if s.peek() != '"' {
		return s.malformed()
	}
	quoted, err := s.raw()
	if err != nil {
		return err
	}
	quoted = bytes.Clone(quoted)
	text, err := (&scanner{data: quoted}).text()
	if err != nil {
		return s.malformed()
	}
	name := path + string(text)
	if err := s.take(':'); err != nil {
		return err
	}
	inside := s.reset(name)
	list, isList := s.lists[name]
	switch next := s.peek(); {
	case isList && next == '[':
		return s.list(list)
	case inside && next == '{':
		s.addRest(quoted, nil)
		return s.object(name + ".")
	}
	value, err := s.raw()
	if err != nil {
		return err
	}
	s.addRest(quoted, value)
	return nil
}

// keep adds a member to what is in none of the lists.
func (s *stream) addRest(name, value []byte) {
	if rest := s.rest.Bytes(); rest[len(rest)-1] != '{' {
		s.rest.WriteByte(',')
	}
	s.rest.Write(name)
	s.rest.WriteByte(':')
	s.rest.Write(value)
}

// reset empties the lists of the name and below it, of which the last value counts,
// and reports whether there are any below it.
func (s *stream) reset(name string) (below bool) {
	for path, list := range s.lists {
		inside := strings.HasPrefix(path, name+".")
		if below = below || inside; inside || path == name {
			list.Reset()
		}
	}
	return below
}

func (s *stream) list(list List) error {
	s.pos++
	for first := true; s.peek() != ']'; first = false {
		if !first {
			if err := s.take(','); err != nil {
				return err
			}
		}
		if s.left--; s.left < 0 {
			return s.tooMany()
		}
		element, err := s.raw()
		if err != nil {
			return err
		}
		if err := list.Add(element); err != nil {
			return err
		}
	}
	s.pos++
	return nil
}

// take reads the byte, which is to be next.
func (s *stream) take(c byte) error {
	if s.peek() != c {
		return s.malformed()
	}
	s.pos++
	return nil
}
