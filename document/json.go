package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/guidonhq/guidon/change"
)

var errDepth = fmt.Errorf("values are nested more than %d levels deep", maxDepth)

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
