package codec

// Reader reads one JSON value by the piece, for those who look for a few of its
// members and have no message to put them into. It accepts what encoding/json
// accepts.
type Reader struct {
	scanner scanner
	text    string // the data, of which texts are parts; empty where it is large
}

// maxShared is the size of data, in bytes, of which one copy is made that all
// texts share. A part of a larger one might keep all of it in memory for long.
const maxShared = 16 << 10

// NewReader returns a Reader of the data, which has at most so many members and
// elements. The data must not change while it is read; no text refers to it
// afterwards.
func NewReader(data []byte, values int) *Reader {
	r := &Reader{scanner: scanner{data: data, left: values}}
	if len(data) <= maxShared {
		r.text = string(data)
	}
	return r
}

// Object reads an object; member reads the value that follows each name.
func (r *Reader) Object(member func(name string) error) error {
	return r.scanner.container('{', '}', func() error {
		name, err := r.Text()
		if err != nil {
			return errSyntax
		}
		if r.scanner.peek() != ':' {
			return errSyntax
		}
		r.scanner.pos++
		return member(name)
	})
}

// Array reads an array; element reads each of its values.
func (r *Reader) Array(element func() error) error { return r.scanner.array(element) }

// Text reads a string.
func (r *Reader) Text() (string, error) {
	r.scanner.peek()
	start := r.scanner.pos + 1
	text, err := r.scanner.text()
	if end := start + len(text); err == nil && end == r.scanner.pos-1 && end <= len(r.text) {
		return r.text[start:end], nil // escapes would have made it shorter
	}
	return string(text), err
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) { return r.scanner.boolean() }

// Null reads a null if one is next, and tells whether it was.
func (r *Reader) Null() (bool, error) { return r.scanner.null() }

// Skip reads any value and forgets it.
func (r *Reader) Skip() error { return r.scanner.skip() }

// Mark returns where the Reader is, for [Reader.Return].
func (r *Reader) Mark() int { return r.scanner.pos }

// Return goes back to a value that has been read since.
func (r *Reader) Return(mark int) { r.scanner.pos = mark }

// AtEnd tells whether nothing but white space follows.
func (r *Reader) AtEnd() bool { return r.scanner.atEnd() }
