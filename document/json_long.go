package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/guidonhq/guidon/service"
)

// errReadWhole is returned for a document that must be read as a whole.
var errReadWhole = errors.New("not an object with unique member names")

// decodeLongJSON reads a stream flag by flag, or as a whole if that is not possible. If the
// stream is invalid, the second attempt returns the error.
func decodeLongJSON(input []byte) ([]*service.Document, error) {
	if out, err := decodeItems(input, readRaw); err == nil {
		return out, nil
	}
	return decodeItems(input, readJSON)
}

// itemReader reads the next value of a stream; see readJSON.
type itemReader func(d *json.Decoder, depth int) (*node, error)

func decodeItems(input []byte, read itemReader) ([]*service.Document, error) {
	var first struct {
		Version json.RawMessage `json:"version"`
	}
	// Errors are reported when the whole document is read.
	_ = json.NewDecoder(bytes.NewReader(withoutHeader(input))).Decode(&first)
	version := &node{kind: null}
	if len(first.Version) > 0 {
		if n, err := parseJSON(string(first.Version)); err == nil {
			version = n
		}
	}
	var out []*service.Document
	stream := jsonStream(input)
	d := &decoder{}
	for d.document = 1; ; d.document++ {
		token, err := stream.Token()
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
			return decode(jsonDocuments(input))
		}
		if len(out) == 0 {
			d.readVersion(&node{kind: object, members: []member{{name: "version", value: version}}})
		}
		document, err := d.readJSONDocument(stream, read)
		if err == errReadWhole {
			return decode(jsonDocuments(input))
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
func (d *decoder) readJSONDocument(stream *json.Decoder, read itemReader) (*service.Document, error) {
	lists := &service.Document{}
	head := &node{kind: object}
	seen := map[string]bool{}
	for stream.More() && d.err == nil {
		name, err := readJSONName(stream, object)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, errReadWhole
		}
		seen[name] = true
		if name == "flags" || name == "segments" {
			err = d.readJSONList(stream, lists, name, read)
		} else {
			var value *node
			value, err = readJSON(stream, maxDepth-1)
			head.add(name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if _, err := stream.Token(); err != nil {
		return nil, err
	}
	out := d.readDocument(head)
	out.Flags, out.Segments = lists.Flags, lists.Segments
	return out, nil
}

func (d *decoder) readJSONList(stream *json.Decoder, to *service.Document, name string, read itemReader) error {
	token, err := stream.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return errReadWhole
	}
	for index := 0; stream.More() && d.err == nil; index++ {
		item, err := read(stream, maxDepth-2)
		if err != nil {
			return err
		}
		d.readItem(to, name, index, item)
	}
	if d.err != nil {
		return nil
	}
	_, err = stream.Token()
	return err
}
