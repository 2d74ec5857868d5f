package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

var (
	errDepth   = fmt.Errorf("values are nested more than %d levels deep", maxDepth)
	errNotUTF8 = guidon.Errorf(guidon.InvalidArgument, "the documents are not valid UTF-8")
)

// jsonDocuments returns a function that reads the values of a stream, see [validJSON]. A syntax
// error has its place.
func jsonDocuments(input []byte, long bool) func() (*node, error) {
	at, places := len(input)-len(withoutHeader(input)), placesOf(input)
	return func() (*node, error) {
		at = len(input) - len(bytes.TrimLeft(input[at:], " \t\r\n"))
		size, err := valueSize(input[at:])
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			offset := len(bytes.TrimRight(input, " \t\r\n"))
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				offset = at + int(syntax.Offset) - 1
			}
			line, column := places.of(offset)
			return nil, &PlacedError{line, column, err}
		}
		s := &validJSON{text: input[:at+size], at: at, places: places, long: long}
		at += size
		return s.value(maxDepth)
	}
}

// valueSize returns the size of the value that the text begins with. It needs no copy of a list or
// object, as a [json.Decoder] does.
func valueSize(text []byte) (int, error) {
	if size := bracketed(text); json.Valid(text[:size]) {
		return size, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(new(json.RawMessage))
	return int(d.InputOffset()), err
}

// bracketed returns the size of the list or object that the text begins with. It returns 0 for other
// values, and anything for text that is not valid.
func bracketed(text []byte) int {
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
		case c == '}' || c == ']':
			if level--; level == 0 {
				return i + 1
			}
		}
		if level <= 0 {
			return 0
		}
	}
	return 0
}

// parseJSON parses text, which must be a single value, to any depth that encoding/json
// allows.
func parseJSON(text string) (*node, error) {
	if valid := []byte(text); json.Valid(valid) {
		return (&validJSON{text: valid}).value(0)
	}
	values, err := jsonFault([]byte(text), 0)
	if values > 0 {
		err = errors.New("more than one JSON value")
	}
	return nil, err
}

// jsonFault returns the first error in a stream of values, which names the expected token, and the
// number of values before it. Unless depth is 0, fewer levels than that are valid. The error is
// io.EOF if the stream is valid.
func jsonFault(text []byte, depth int) (values int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for level := 0; ; {
		token, err := d.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			level++
		case json.Delim('}'), json.Delim(']'):
			level--
		}
		switch {
		case err == io.EOF && level > 0:
			return values, io.ErrUnexpectedEOF
		case err != nil:
			return values, err
		case depth > 0 && level == depth:
			return values, errDepth
		case level == 0:
			values++
		}
	}
}

// appendJSON appends the value as compact JSON.
func appendJSON(out []byte, n *node) ([]byte, error) {
	var err error
	switch n.kind {
	case null:
		return append(out, "null"...), nil
	case boolean:
		return append(out, n.text...), nil
	case number:
		if n.text == "" {
			return nil, fmt.Errorf("%s is not a valid JSON number", n.describe())
		}
		return append(out, n.text...), nil
	case text:
		return append(out, change.Encode(n.text)...), nil
	case list:
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = appendJSON(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	out = append(out, '{')
	for i, m := range n.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, change.Encode(m.name)...), ':')
		if out, err = appendJSON(out, m.value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}
