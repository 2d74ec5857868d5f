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
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	n, err := readJSON(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return n, nil
}

// readJSON reads the next value. Unless depth is 0, the value may have at most depth levels.
// At the end of the input it returns io.EOF.
func readJSON(d *json.Decoder, depth int) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case nil:
		return &node{kind: null, raw: "null"}, nil
	case bool:
		word := fmt.Sprint(token)
		return &node{kind: boolean, text: word, raw: word}, nil
	case json.Number:
		return &node{kind: number, text: token.String(), raw: token.String()}, nil
	case string:
		return &node{kind: text, text: token, raw: token}, nil
	case json.Delim:
		if depth == 1 {
			return nil, errDepth
		}
		n, err := readJSONItems(d, token, max(0, depth-1))
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	return nil, fmt.Errorf("unexpected %v", token)
}

// readJSONItems reads the rest of a list or object and its closing bracket.
func readJSONItems(d *json.Decoder, opening json.Delim, depth int) (*node, error) {
	n := &node{kind: list}
	if opening == '{' {
		n.kind = object
	}
	index := memberIndex{of: n}
	for d.More() {
		name, err := readJSONName(d, n.kind)
		if err != nil {
			return nil, err
		}
		value, err := readJSON(d, depth)
		if err != nil {
			return nil, err
		}
		if n.kind == list {
			n.items = append(n.items, value)
		} else {
			index.set(member{name: name, value: value})
		}
	}
	_, err := d.Token()
	return n, err
}

func readJSONName(d *json.Decoder, in kind) (string, error) {
	if in == list {
		return "", nil
	}
	token, err := d.Token()
	name, _ := token.(string)
	return name, err
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
