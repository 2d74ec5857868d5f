package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Unknown says how to treat unknown members, and unknown names of values, of documents.
type Unknown uint8

// The ways to treat them. Attachments and metadata have members of any name.
const (
	RejectUnknown Unknown = iota // hardly anything else than a misspelled name
	IgnoreUnknown                // for files of other versions: unknown names of values mean the default
)

// Read reads the text of a stream of documents. It returns TooLarge if it has more than
// 256 MiB.
func Read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxInput {
		return nil, guidon.Errorf(guidon.TooLarge, "the documents are larger than %d MiB; split them into several files", maxInput>>20)
	}
	return text, nil
}

// Decode reads a stream of documents (contract 13.1 to 13.3). It skips empty documents and
// empty list items. Attachments and metadata become compact JSON that keeps the order of
// members and the digits of numbers. Decode checks only the form of the documents;
// [service.Document.Validate] checks the rest.
//
// It returns TooLarge for a stream of more than 1000 documents. For invalid
// input it returns InvalidArgument with the number of the document, the line and the path
// of the invalid value; it is a [PlacedError] if the column is known, too.
func Decode(input []byte, format Format, unknown Unknown) ([]*service.Document, error) {
	d := &decoder{unknown: unknown}
	switch {
	case format == JSON:
		return d.decodeJSON(input)
	case len(input) >= minSplitSize:
		return d.decodeLongYAML(input)
	}
	return d.decode(yamlDocuments(input))
}

// decodeJSON reads a stream, a long one flag by flag.
func (d *decoder) decodeJSON(input []byte) ([]*service.Document, error) {
	if !utf8.Valid(input) {
		return nil, errNotUTF8
	}
	out, err := d.decode(jsonDocuments(input, len(input) >= minSplitSize))
	if _, placed := errors.AsType[*PlacedError](d.err); err == nil || placed || guidon.CodeOf(err) == guidon.TooLarge {
		return out, err
	}
	values, fault := jsonFault(withoutHeader(input), maxDepth) // which is better than a syntax error of a whole value
	if fault == io.EOF {
		return nil, err
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](fault); ok {
		fault = fmt.Errorf("byte %d: %w", syntax.Offset, fault)
	}
	d.document = values + 1
	invalid := d.syntaxError(fault)
	if placed, ok := errors.AsType[*PlacedError](err); ok {
		return nil, &PlacedError{placed.Line, placed.Column, invalid}
	}
	return nil, invalid
}

// decodeLongYAML reads a stream in parts if it can be split, and otherwise as a whole.
// Reading it as a whole takes so much memory that the size is limited.
func (d *decoder) decodeLongYAML(input []byte) ([]*service.Document, error) {
	parts, err := splitYAML(input)
	if err == nil {
		var documents []*service.Document
		documents, err = (&decoder{unknown: d.unknown}).decode(parts)
		if err == nil || guidon.CodeOf(err) == guidon.InvalidArgument {
			return documents, err
		}
	}
	if guidon.CodeOf(err) == guidon.TooLarge {
		return nil, err
	}
	if len(input) > maxUnsplitSize {
		return nil, guidon.Errorf(guidon.InvalidArgument,
			"the documents are larger than %d MiB and cannot be read flag by flag (%v); write flags and segments as block lists without shared anchors, use JSON, or split them into several files",
			maxUnsplitSize>>20, err)
	}
	return d.decode(yamlDocuments(input))
}

func errTooManyDocuments() error {
	return guidon.Errorf(guidon.TooLarge, "there are more than %d documents", maxDocuments)
}

// decode converts the documents that next returns until io.EOF.
func (d *decoder) decode(next func() (*node, error)) ([]*service.Document, error) {
	var out []*service.Document
	for d.document = 1; ; d.document++ {
		n, err := next()
		switch {
		case err == io.EOF:
			return out, nil
		case err != nil && d.linter != nil:
			return nil, err
		case err != nil:
			return nil, d.syntaxError(err)
		case d.document > maxDocuments:
			return nil, at(n.line, n.column, errTooManyDocuments())
		case n.kind == null:
			continue
		}
		if len(out) == 0 {
			d.readVersion(n)
		}
		read := d.readDocument(n)
		if d.linter != nil {
			d.linter.document(n, read)
		}
		if out = append(out, read); d.err != nil {
			return nil, d.err
		}
	}
}

// syntaxError returns the error for a document that cannot be parsed. The messages of the
// YAML library begin with the line.
func (d *decoder) syntaxError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		message = "unexpected end of the input"
	}
	separator := ": "
	if strings.HasPrefix(message, "line ") {
		separator = ", "
	}
	invalid := guidon.Errorf(guidon.InvalidArgument, "document %d%s%s", d.document, separator, message)
	if placed, ok := errors.AsType[*PlacedError](err); ok {
		return at(placed.Line, placed.Column, invalid)
	}
	return invalid
}

func yamlDocuments(input []byte) func() (*node, error) {
	stream, reader := yaml.NewDecoder(bytes.NewReader(input)), newYAMLReader()
	return func() (*node, error) {
		var n yaml.Node
		if err := stream.Decode(&n); err != nil {
			return nil, err
		}
		return reader.read(&n, maxDepth)
	}
}

// withoutHeader returns the input without a byte order mark and without the comment line at
// the beginning of exports of other tools.
func withoutHeader(input []byte) []byte {
	input = bytes.TrimPrefix(input, []byte("\ufeff"))
	if bytes.HasPrefix(input, []byte("#")) {
		_, input, _ = bytes.Cut(input, []byte("\n"))
	}
	return input
}
