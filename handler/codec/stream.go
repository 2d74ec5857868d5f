package codec

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
)

// List receives the elements of a list that [UnmarshalStream] reads.
type List struct {
	Reset func()                     // called when the list starts, or is replaced by a later one
	Add   func(element []byte) error // called with the JSON of each element, which is valid until Add returns
}

// The most that [UnmarshalStream] has in memory at a time: one value, and everything
// that is not in one of the lists.
const (
	maxElement = 32 << 20
	maxRest    = 4 << 20
)

// UnmarshalStream is like [UnmarshalRequest] but reads from r, for a message with long lists.
// The lists do not become part of m: their elements go to the functions in lists. The
// keys of lists are paths of camelCase names, such as "document.flags". Everything else
// becomes part of m, by the same rules. The reader is read to its end: net/http closes a
// connection if the end of a body is still unread after the response.
//
// An error of the reader is returned unchanged.
func UnmarshalStream(r io.Reader, m proto.Message, values int, lists map[string]List) (*UnknownField, error) {
	s := &stream{from: r, left: values, most: values, lists: lists}
	if s.peek() == 0 && s.pos == len(s.buf) {
		if s.readErr == io.EOF {
			return nil, nil
		}
		return nil, s.readErr
	}
	if s.peek() != '{' {
		value, err := s.raw()
		if err != nil {
			return nil, err
		}
		return UnmarshalRequest(value, m, values)
	}
	if err := s.object(""); err != nil {
		return nil, err
	}
	if err := s.drain(); err != nil {
		return nil, err
	}
	return UnmarshalRequest(s.rest.Bytes(), m, values)
}

// stream reads JSON in pieces. It finds the start and end of values; whether they are
// well-formed is checked when they are decoded.
type stream struct {
	from    io.Reader
	buf     []byte
	pos     int
	dropped int64 // bytes before buf
	readErr error // of from, including io.EOF
	left    int   // how many more members and elements there may be
	most    int
	lists   map[string]List
	rest    bytes.Buffer // JSON of everything that is not in one of the lists
}

// more reads more of the input, and reports whether there was any. It drops the bytes
// before pos.
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

// drain reads what is left of the input, and ignores it.
func (s *stream) drain() error {
	for more := true; more; more = s.more() {
		s.pos = len(s.buf)
	}
	if s.readErr != io.EOF {
		return s.readErr
	}
	return nil
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

// raw returns the next value as written. It is valid until more input is read.
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
					return s.cut(at) // a number or a literal ends with the input
				}
				s.pos += at
				return nil, s.malformed()
			}
		}
		c := s.buf[s.pos+at]
		if at > 0 && depth == 0 && !quoted {
			if strings.IndexByte(literalEnds, c) >= 0 {
				return s.cut(at)
			}
			continue
		}
		switch {
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
		case depth == 0 && (c == '}' || c == ']' || c == ','):
			return nil, s.malformed()
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return s.cut(at + 1)
			}
		case c == ',':
			s.left--
		}
	}
}

// literalEnds are the bytes that end a number or a literal: white space, punctuation, and
// the beginnings of other values.
const literalEnds = " \t\n\r,]}\"{["

// cut returns the next n bytes and advances past them.
func (s *stream) cut(n int) ([]byte, error) {
	value := s.buf[s.pos : s.pos+n]
	s.pos += n
	if s.left < 0 {
		return nil, tooMany(s.most)
	}
	return value, nil
}

// object reads an object. The path ends in a dot, or is empty.
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
			return guidon.Errorf(guidon.TooLarge, "json body has more than %d MiB outside its lists", maxRest>>20)
		}
	}
	s.pos++
	s.rest.WriteByte('}')
	return nil
}

func (s *stream) member(path string) error {
	if s.left--; s.left < 0 {
		return tooMany(s.most)
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

// addRest adds a member to rest.
func (s *stream) addRest(name, value []byte) {
	if rest := s.rest.Bytes(); rest[len(rest)-1] != '{' {
		s.rest.WriteByte(',')
	}
	s.rest.Write(name)
	s.rest.WriteByte(':')
	s.rest.Write(value)
}

// reset empties the lists at the path name and below it, because only the last value of
// a name counts. It reports whether there are lists below it.
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
			return tooMany(s.most)
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

// take reads c, which must be the next byte that is not white space.
func (s *stream) take(c byte) error {
	if s.peek() != c {
		return s.malformed()
	}
	s.pos++
	return nil
}
