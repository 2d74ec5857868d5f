package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// errReadWhole is returned for a document that must be read as a whole.
var errReadWhole = errors.New("not an object with unique member names")

// decodeJSON reads a stream, a long one flag by flag if possible.
func (d *decoder) decodeJSON(input []byte) ([]*service.Document, error) {
	if !utf8.Valid(input) {
		return nil, errNotUTF8
	}
	out, err := d.restarted().readJSONStream(input)
	if _, placed := errors.AsType[*PlacedError](err); placed || guidon.CodeOf(err) != guidon.InvalidArgument {
		return out, err
	}
	values, fault := jsonFault(withoutHeader(input), maxDepth) // which is better than a syntax error of a whole value
	if fault == io.EOF {
		return out, err
	}
	d.document = values + 1
	return nil, d.syntaxError(withOffset(fault))
}

var errNotUTF8 = guidon.Errorf(guidon.InvalidArgument, "the documents are not valid UTF-8")

func (d *decoder) readJSONStream(input []byte) ([]*service.Document, error) {
	if len(input) >= minSplitSize {
		out, err := d.decodeItems(newJSONReader(input), newJSONReader(input).version())
		if err != errReadWhole {
			return out, err
		}
		d = d.restarted()
	}
	r := newJSONReader(input)
	return d.decode(func() (*node, error) {
		n, err := r.value(maxDepth)
		return n, withOffset(err)
	})
}

// jsonReader reads the values of a stream.
type jsonReader struct {
	text   []byte // the stream
	header int    // bytes of it before the first value
	stream *json.Decoder
	places *places
}

func newJSONReader(input []byte) *jsonReader {
	body := withoutHeader(input)
	return &jsonReader{
		text: input, header: len(input) - len(body), stream: json.NewDecoder(bytes.NewReader(body)), places: placesOf(input),
	}
}

// value reads the next value, see [validJSON.value].
func (r *jsonReader) value(depth int) (*node, error) {
	var raw json.RawMessage
	if err := r.stream.Decode(&raw); err != nil {
		return nil, err
	}
	r.places.start = r.header + int(r.stream.InputOffset()) - len(raw)
	return (&validJSON{text: raw, places: r.places}).value(depth)
}

// name reads the name of a member, whose value it leaves unset.
func (r *jsonReader) name() (m member, err error) {
	token, err := r.stream.Token()
	if err != nil {
		return m, err
	}
	m.name, _ = token.(string)
	end := r.header + int(r.stream.InputOffset())
	r.places.start = bytes.LastIndexByte(r.text[:end-1], '"')
	line, column := r.places.of(0)
	m.line, m.column = int32(line), int32(column) // #nosec G115 -- of a limited input
	return m, nil
}

// withOffset adds the position to a syntax error.
func withOffset(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return err
}

// version returns the value of the version of the stream, or null. Errors before it are
// reported when the documents are read.
func (r *jsonReader) version() *node {
	none := &node{kind: null}
	token, err := r.stream.Token()
	for err == nil && token == nil {
		token, err = r.stream.Token() // after a document that is null
	}
	if token != json.Delim('{') {
		return none
	}
	for r.stream.More() {
		m, err := r.name()
		if err == nil && m.name == "version" {
			m.value, err = r.value(maxDepth - 1)
		} else if err == nil {
			err = r.stream.Decode(&skipped{})
		}
		switch {
		case err != nil:
			return none
		case m.value != nil:
			return m.value
		}
	}
	return none
}

// skipped is a value that is not kept.
type skipped struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*skipped) UnmarshalJSON([]byte) error { return nil }

// decodeItems reads the documents flag by flag, in the version. It returns errReadWhole if that
// is not possible.
func (d *decoder) decodeItems(r *jsonReader, version *node) ([]*service.Document, error) {
	var out []*service.Document
	for d.document = 1; ; d.document++ {
		token, err := r.stream.Token()
		if err == io.EOF {
			return out, nil
		}
		if d.document > maxDocuments {
			return nil, errTooManyDocuments()
		}
		if err == nil && token == nil {
			continue // null
		}
		if err != nil || token != json.Delim('{') {
			return nil, errReadWhole
		}
		if len(out) == 0 {
			d.readVersion(&node{kind: object, members: []member{{name: "version", value: version}}})
		}
		document, err := d.readJSONDocument(r)
		if err == errReadWhole {
			return nil, err
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if d.err != nil {
			return nil, d.err
		}
		if err != nil {
			return nil, d.syntaxError(withOffset(err))
		}
		out = append(out, document)
	}
}

// readJSONDocument reads a document after its opening bracket.
func (d *decoder) readJSONDocument(r *jsonReader) (*service.Document, error) {
	lists := &service.Document{}
	head := &node{kind: object}
	seen := map[string]bool{}
	for r.stream.More() && d.err == nil {
		m, err := r.name()
		if err != nil {
			return nil, err
		}
		if seen[m.name] {
			return nil, errReadWhole
		}
		seen[m.name] = true
		if m.name == "flags" || m.name == "segments" {
			err = d.readJSONList(r, lists, m.name)
		} else {
			m.value, err = r.value(maxDepth - 1)
			head.members = append(head.members, m)
		}
		if err != nil {
			return nil, err
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if _, err := r.stream.Token(); err != nil {
		return nil, err
	}
	out := d.readDocument(head)
	out.Flags, out.Segments = lists.Flags, lists.Segments
	return out, nil
}

func (d *decoder) readJSONList(r *jsonReader, to *service.Document, name string) error {
	token, err := r.stream.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return errReadWhole
	}
	for index := 0; r.stream.More() && d.err == nil; index++ {
		item, err := r.value(maxDepth - 2)
		if err != nil {
			return err
		}
		d.readItem(to, name, index, item)
	}
	if d.err != nil {
		return nil
	}
	_, err = r.stream.Token()
	return err
}
