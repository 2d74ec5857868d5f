package codec

import (
	"bytes"
	"io"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// maxBuffered is how many bytes a [Writer] buffers before it flushes them, and the
// longest part of a string that it appends at a time.
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
	p := NewWriter(out)
	p.lists = make(map[protoreflect.FieldDescriptor]iter.Seq[proto.Message])
	for _, list := range l.Lists {
		p.lists[m.Descriptor().Fields().ByJSONName(list.name)] = list.messages
	}
	b, err := encoder{sparse, p}.message(p.buf, m)
	if err != nil {
		return err
	}
	p.flush(b)
	return p.err
}

// Writer writes JSON in pieces, so that a long response need not be in memory as a
// whole. It writes the same bytes as [Append] and the other Append functions. After an error
// it writes nothing more, and [Writer.Err] returns the error.
type Writer struct {
	out     io.Writer
	buf     []byte
	flushed int // bytes that have been flushed
	err     error

	lists map[protoreflect.FieldDescriptor]iter.Seq[proto.Message] // of a LongMessage
}

// NewWriter returns a Writer to out, which receives pieces of about 32 KiB.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, buf: make([]byte, 0, maxBuffered+maxBuffered/4)}
}

// Raw writes JSON as it is.
func (w *Writer) Raw(text string) { w.buf = w.flushIfFull(append(w.buf, text...)) }

// RawBytes is Raw for bytes.
func (w *Writer) RawBytes(text []byte) { w.buf = w.flushIfFull(append(w.buf, text...)) }

// Text writes a string.
func (w *Writer) Text(s string) { w.buf = w.text(w.buf, s) }

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

// Int writes an integer.
func (w *Writer) Int(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

// Float writes a float of 32 bits.
func (w *Writer) Float(f float32) { w.buf = jsontext.AppendFloat(w.buf, float64(f), 32) }

// Enum writes an enum.
func (w *Writer) Enum(e protoreflect.Enum) { w.buf = appendEnum(w.buf, e.Descriptor(), e.Number()) }

// Time writes a timestamp. It is an error if t is outside the years 1 to 9999.
func (w *Writer) Time(t time.Time) {
	buf, err := jsontext.AppendTime(w.buf, t)
	if w.buf = buf; err != nil {
		w.fail(err)
	}
}

// Len returns how many bytes have been written.
func (w *Writer) Len() int { return w.flushed + len(w.buf) }

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Flush writes the buffered bytes and returns the first error.
func (w *Writer) Flush() error {
	w.buf = w.flush(w.buf)
	return w.err
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// flushIfFull flushes b if it is long enough, and returns the buffer to append to.
func (w *Writer) flushIfFull(b []byte) []byte {
	if len(b) < maxBuffered {
		return b
	}
	return w.flush(b)
}

func (w *Writer) flush(b []byte) []byte {
	w.flushed += len(b)
	if w.err == nil && len(b) > 0 {
		if _, err := w.out.Write(b); err != nil {
			w.fail(err)
		}
	}
	return b[:0]
}

// text appends s, in parts if it is long.
func (w *Writer) text(b []byte, s string) []byte {
	if len(s) <= maxBuffered {
		return w.flushIfFull(jsontext.AppendString(b, s))
	}
	b = append(b, '"')
	for len(s) > 0 {
		n := runesWithin(s, maxBuffered)
		b = w.flushIfFull(jsontext.AppendEscaped(b, s[:n]))
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
