package codec

import (
	"bytes"
	"io"
	"iter"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// maxBuffered is how many bytes are buffered before they are written, and the longest part of
// a string that is appended at a time.
const maxBuffered = 32 << 10

// LongMessage is a message whose JSON is written in pieces, so that neither need be in memory as
// a whole.
type LongMessage struct {
	Message proto.Message
	Lists   []LongList // in place of those of the message
}

// LongList is a list of messages in another one. They are converted and written one by one, so
// that they are never in memory together.
type LongList struct {
	name     string // of the field, in camelCase
	messages iter.Seq[proto.Message]
}

// NewLongList returns the list of the field with this camelCase name.
func NewLongList[T any, M proto.Message](name string, items iter.Seq[T], convert func(T) M) LongList {
	return LongList{name, func(yield func(proto.Message) bool) {
		for item := range items {
			if !yield(convert(item)) {
				return
			}
		}
	}}
}

// WriteJSON writes the JSON of [Marshal] or, if pretty is set, of [MarshalPretty], in pieces of
// about 32 KiB.
func (l LongMessage) WriteJSON(out io.Writer, pretty bool) error {
	if pretty {
		out = &indenter{out: out}
	}
	return l.write(out, pretty)
}

// WriteSparse writes the JSON of the message in pieces, without zero values, but not indented.
func WriteSparse(out io.Writer, m proto.Message) error {
	return LongMessage{Message: m}.write(out, true)
}

// MarshalPretty is like [Marshal] but indents by two spaces and omits zero values
// (contract 1.3, pretty mode).
func MarshalPretty(m proto.Message) ([]byte, error) {
	var pretty bytes.Buffer
	if err := (LongMessage{Message: m}).WriteJSON(&pretty, true); err != nil {
		return nil, err
	}
	return pretty.Bytes(), nil
}

func (l LongMessage) write(out io.Writer, sparse bool) error {
	m := l.Message.ProtoReflect()
	p := &pieces{out: out, lists: make(map[protoreflect.FieldDescriptor]iter.Seq[proto.Message])}
	for _, list := range l.Lists {
		p.lists[m.Descriptor().Fields().ByJSONName(list.name)] = list.messages
	}
	b, err := encoder{sparse, p}.message(make([]byte, 0, maxBuffered+maxBuffered/4), m)
	if err != nil {
		return err
	}
	p.flush(b)
	return p.err
}

// pieces writes what an encoder has appended to its buffer. After an error it writes nothing
// more.
type pieces struct {
	out   io.Writer
	lists map[protoreflect.FieldDescriptor]iter.Seq[proto.Message]
	err   error
}

// flushIfFull flushes b if it is long enough, and returns the buffer to append to.
func (p *pieces) flushIfFull(b []byte) []byte {
	if len(b) < maxBuffered {
		return b
	}
	return p.flush(b)
}

func (p *pieces) flush(b []byte) []byte {
	if p.err == nil && len(b) > 0 {
		_, p.err = p.out.Write(b)
	}
	return b[:0]
}

// text appends s, in parts if it is long.
func (p *pieces) text(b []byte, s string) []byte {
	if len(s) <= maxBuffered {
		return p.flushIfFull(jsontext.AppendString(b, s))
	}
	b = append(b, '"')
	for len(s) > 0 {
		n := runesWithin(s, maxBuffered)
		b = p.flushIfFull(jsontext.AppendEscaped(b, s[:n]))
		s = s[n:]
	}
	return append(b, '"')
}

// runesWithin returns the length of the longest prefix of s that has at most most bytes
// and does not end inside a character.
func runesWithin(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	if !utf8.RuneStart(s[n]) {
		return most // not UTF-8: there is no character to split
	}
	return n
}
