package codec

import "github.com/guidonhq/guidon/handler/codec/jsontext"

// Reader reads one JSON value in steps, for callers that need only a few of its members
// and have no message for them. It accepts what encoding/json accepts.
type Reader struct {
	scanner scanner
	text    string // a copy of the data, shared by the strings; empty if the data is large
}

// maxShared is the largest data, in bytes, of which one copy is made that all strings
// share. A string of a larger one might keep all of it in memory for long.
const maxShared = 16 << 10

// NewReader returns a Reader of the data. Reading fails if it has more members and
// elements than values. The data must not be modified while it is read; the strings
// returned do not refer to it.
func NewReader(data []byte, values int) *Reader {
	r := &Reader{scanner: scanner{data: data, left: values}}
	if len(data) <= maxShared {
		r.text = string(data)
	}
	return r
}

// Object reads an object. It calls member for each name, which must read the value.
func (r *Reader) Object(member func(name string) error) error {
	return r.scanner.container('{', '}', func() error {
		name, err := r.Text()
		if err != nil {
			return jsontext.ErrSyntax
		}
		if r.scanner.peek() != ':' {
			return jsontext.ErrSyntax
		}
		r.scanner.pos++
		return member(name)
	})
}

// Array reads an array. It calls element for each value, which must read it.
func (r *Reader) Array(element func() error) error { return r.scanner.array(element) }

// Text reads a string.
func (r *Reader) Text() (string, error) {
	r.scanner.peek()
	start := r.scanner.pos + 1
	text, err := r.scanner.text()
	if end := start + len(text); err == nil && end == r.scanner.pos-1 && end <= len(r.text) {
		return r.text[start:end], nil // no escapes: they would have made text shorter
	}
	return string(text), err
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) { return r.scanner.boolean() }

// Null reads a null if it is next, and reports whether it was.
func (r *Reader) Null() (bool, error) { return r.scanner.null() }

// Skip reads any value and discards it.
func (r *Reader) Skip() error { return r.scanner.skip() }

// Mark returns the current position, for [Reader.Return].
func (r *Reader) Mark() int { return r.scanner.pos }

// Return goes back to a position returned by [Reader.Mark].
func (r *Reader) Return(mark int) { r.scanner.pos = mark }

// AtEnd reports whether only white space follows.
func (r *Reader) AtEnd() bool { return r.scanner.atEnd() }
