package document

import (
	"io"
	"slices"

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
		var to sink = &jsonSink{out: w}
		if format == YAML {
			to = &yamlSink{out: w, follows: i > 0}
		}
		e := encoder{}
		if err := e.document(to, d, version); err != nil {
			return err
		}
		if e.err != nil {
			return guidon.Errorf(guidon.InvalidArgument, "namespace %q: %v", d.Namespace.Key, e.err)
		}
		version = "" // only the first document has it
	}
	return nil
}

// sink writes a document object by object, to keep only a part of the output in memory.
type sink interface {
	head(n *node) error              // everything except the lists; called first
	item(list string, n *node) error // an item; all items of a list are consecutive
	end() error
}

// encoder builds nodes from documents and records the first error.
type encoder struct{ err error }

func (e *encoder) object(all []field) *node {
	n := &node{kind: object}
	for _, f := range all {
		if value := f.value.write(e); value != nil {
			n.add(f.name, value)
		}
	}
	return n
}
