package document

import (
	"fmt"
	"io"
	"slices"
	"strconv"

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

func textNode(value string) *node { return &node{kind: text, text: value} }

func booleanNode(value bool) *node {
	return &node{kind: boolean, text: strconv.FormatBool(value)}
}

// floatNode returns the shortest number that decodes to the value.
func (e *encoder) floatNode(value float32) *node {
	literal := strconv.FormatFloat(float64(value), 'f', -1, 32)
	if !jsonNumber.MatchString(literal) && e.err == nil {
		e.err = fmt.Errorf("%s is not a valid JSON number", literal)
	}
	return &node{kind: number, text: literal}
}

func (e *encoder) jsonNode(literal string) *node {
	n, err := parseJSON(literal)
	if err != nil {
		if e.err == nil {
			e.err = fmt.Errorf("attachment or metadata is not valid JSON: %w", err)
		}
		return &node{}
	}
	return n
}

// addText adds a member unless it is empty.
func (n *node) addText(name, value string) {
	if value != "" {
		n.add(name, textNode(value))
	}
}

// addTrue adds a member only if it is true.
func (n *node) addTrue(name string, value bool) {
	if value {
		n.add(name, booleanNode(true))
	}
}

// addList adds a list unless it is empty.
func addList[T any](n *node, name string, items []T, each func(T) *node) {
	if len(items) == 0 {
		return
	}
	out := &node{kind: list}
	for _, item := range items {
		out.items = append(out.items, each(item))
	}
	n.add(name, out)
}
