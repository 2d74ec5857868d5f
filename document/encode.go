package document

import (
	"bytes"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Encode writes the documents as one stream in the form of contract 13.2. The output is
// deterministic. YAML documents are separated by ---, and JSON documents are written one
// per line. Decode returns the same documents from the stream, provided that they are valid
// and no rule has a rank: the position of a rule replaces its rank. Encode returns
// InvalidArgument for values that the format cannot represent.
func Encode(w io.Writer, format Format, documents []*service.Document) error {
	version := versions[newestOfFlipt]
	if slices.ContainsFunc(documents, (*service.Document).Additions) {
		version = versions[withAdditions]
	}
	for i, d := range documents {
		e := documentEncoder{w, format, d}
		if err := e.document(version, i > 0); err != nil {
			return err
		}
		version = "" // only the first document has it
	}
	return nil
}

// encoder builds nodes from documents and records the first error.
type encoder struct{ err error }

func (e *encoder) object(all []field) *node {
	n := &node{kind: object}
	for _, f := range all {
		if value := f.value.write(e); value != nil {
			n.members = append(n.members, member{name: f.name, value: value})
		}
	}
	return n
}

// documentEncoder writes a document, some objects at a time, to keep only a part of the output in
// memory.
type documentEncoder struct {
	out    io.Writer
	format Format
	from   *service.Document
}

// document writes the document with the version, if there is one. follows says that it is not the first one.
func (e *documentEncoder) document(version string, follows bool) error {
	namespace := e.from.Namespace
	namespace.Key = guidon.NamespaceKey(namespace.Key)
	text, err := e.text(optional("version", &version, asText), always("namespace", &namespace, asNamespace))
	switch {
	case err != nil:
		return err
	case e.format == JSON:
		text = text[:len(text)-1] // the object continues
	case follows:
		text = append([]byte("---\n"), text...)
	}
	if _, err := e.out.Write(text); err != nil {
		return err
	}
	if err := writeList(e, "flags", e.from.Flags, asFlag); err != nil {
		return err
	}
	if err := writeList(e, "segments", e.from.Segments, asSegment); err != nil {
		return err
	}
	if e.format == JSON {
		_, err = io.WriteString(e.out, "}\n")
	}
	return err
}

// text returns the text of an object with the fields.
func (e *documentEncoder) text(all ...field) ([]byte, error) {
	var to encoder
	n := to.object(all)
	switch {
	case to.err != nil:
		return nil, guidon.Errorf(guidon.InvalidArgument, "namespace %q: %v", e.from.Namespace.Key, to.err)
	case e.format == JSON:
		return appendJSON(nil, n)
	}
	return marshalYAML(yamlNode(n))
}

// maxTogether is how many objects are encoded together.
const maxTogether = 64

// writeList writes the items as a list with the name. The next ones are encoded while some are written.
func writeList[T any](e *documentEncoder, name string, items []T, as form[T]) error {
	encode := func(some []T) ([]byte, error) {
		text, err := e.text(listOf(name, &some, as))
		if err != nil {
			return nil, err
		}
		first, last := &some[0] == &items[0], &some[len(some)-1] == &items[len(items)-1]
		return e.part(text, name, first, last), nil
	}
	return processOrdered(slices.Collect(slices.Chunk(items, maxTogether)), encode, func(text []byte) error {
		_, err := e.out.Write(text)
		return err
	})
}

// part returns what the document has of the text of an object with only some items of a list.
func (e *documentEncoder) part(text []byte, name string, first, last bool) []byte {
	if e.format == YAML {
		if !first {
			_, text, _ = bytes.Cut(text, []byte("\n")) // the name of the list
		}
		return text
	}
	text = text[:len(text)-1] // the document continues
	if !last {
		text = text[:len(text)-1] // so does the list
	}
	if !first {
		text = text[len(`{"":`)+len(name):] // from the bracket on
	}
	text[0] = ','
	return text
}

// ToYAML returns JSON, which must be a single value, as YAML, with its members in their order.
func ToYAML(text []byte) ([]byte, error) {
	n, err := parseJSON(string(text))
	if err != nil {
		return nil, err
	}
	return marshalYAML(yamlNode(n))
}

func marshalYAML(n *yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	return text.Bytes(), e.Close()
}
