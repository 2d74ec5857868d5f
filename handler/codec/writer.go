package codec

import (
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxBuffered is how many bytes a [Writer] collects before it hands them on, and the
// longest part of a text that it takes at once.
const maxBuffered = 32 << 10

// Writer writes JSON by the piece, so that a long answer need not be in memory as
// a whole. It writes what [Append] and its relatives append. It keeps the first
// error, and after that does nothing.
type Writer struct {
	out     io.Writer
	buf     []byte
	flushed int // bytes that have been handed on
	err     error
}

// NewWriter returns a Writer to out, which is given pieces of some 32 KiB.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, buf: make([]byte, 0, maxBuffered+maxBuffered/4)}
}

// NewPrettyWriter is NewWriter for people: indented by two spaces.
func NewPrettyWriter(out io.Writer) *Writer { return NewWriter(&indenter{out: out}) }

// Raw writes JSON as it is.
func (w *Writer) Raw(text string) { w.buf = w.flushIfFull(append(w.buf, text...)) }

// RawBytes is Raw for bytes.
func (w *Writer) RawBytes(text []byte) { w.buf = w.flushIfFull(append(w.buf, text...)) }

// Text writes a string.
func (w *Writer) Text(s string) { w.buf = w.text(w.buf, s) }

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

// Int writes a whole number.
func (w *Writer) Int(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

// Float writes a float of 32 bits.
func (w *Writer) Float(f float32) { w.buf = AppendFloat(w.buf, f) }

// Enum writes an enum.
func (w *Writer) Enum(e protoreflect.Enum) { w.buf = AppendEnum(w.buf, e) }

// Time writes an instant. It is an error if that lies outside the years 1 to 9999.
func (w *Writer) Time(t time.Time) {
	buf, err := AppendTime(w.buf, t)
	if w.buf = buf; err != nil {
		w.fail(err)
	}
}

// Message writes a message, with zero values or, where it is sparse, without.
func (w *Writer) Message(m proto.Message, sparse bool) {
	buf, err := encoder{sparse: sparse, pieces: w}.message(w.buf, m.ProtoReflect())
	if w.buf = buf; err != nil {
		w.fail(err)
	}
}

// Len returns how many bytes have been written.
func (w *Writer) Len() int { return w.flushed + len(w.buf) }

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Flush hands on what is left and returns the first error.
func (w *Writer) Flush() error {
	w.buf = w.flush(w.buf)
	return w.err
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// turn hands b on where it is long enough, and returns what is to be appended to.
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

// text appends s, a long one in parts.
func (w *Writer) text(b []byte, s string) []byte {
	if len(s) <= maxBuffered {
		return w.flushIfFull(appendString(b, s))
	}
	b = append(b, '"')
	for len(s) > 0 {
		n := runesWithin(s, maxBuffered)
		b = w.flushIfFull(appendEscaped(b, s[:n]))
		s = s[n:]
	}
	return append(b, '"')
}

// runesWithin returns the length of the longest beginning of s that has at most
// most bytes and does not end within a character.
func runesWithin(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	if !utf8.RuneStart(s[n]) {
		return most // there is no character to divide
	}
	return n
}
