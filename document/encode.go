package document

import (
	"fmt"
	"io"
	"strconv"

	"github.com/guidonhq/guidon"
)

// Encode writes the documents as one stream in the form of contract 13.2, the
// same bytes for the same documents: YAML documents are separated by ---, JSON
// documents stand on a line each. What Decode makes of the stream is the
// documents again, given that they are valid and that no rule has a rank, which
// its place stands for. It returns InvalidArgument for what the format
// cannot hold.
func Encode(w io.Writer, format Format, documents []*guidon.Document) error {
	for i, d := range documents {
		var to sink = &jsonSink{out: w}
		if format == YAML {
			to = &yamlSink{out: w, follows: i > 0}
		}
		e := encoder{}
		if err := e.document(to, d, i == 0); err != nil {
			return err
		}
		if e.err != nil {
			return guidon.Errorf(guidon.InvalidArgument, "namespace %q: %v", d.Namespace.Key, e.err)
		}
	}
	return nil
}

// sink writes a document object by object, so that no more of its form is in memory.
type sink interface {
	head(n *node) error              // all but the lists, first
	item(list string, n *node) error // of one list after the other
	end() error
}

// encoder builds nodes from documents and keeps the first error.
type encoder struct{ err error }

func textNode(value string) *node { return &node{kind: text, text: value} }

func booleanNode(value bool) *node {
	return &node{kind: boolean, text: strconv.FormatBool(value)}
}

// floatNode returns the shortest number that is the value again.
func (e *encoder) floatNode(value float32) *node {
	literal := strconv.FormatFloat(float64(value), 'f', -1, 32)
	if !jsonNumber.MatchString(literal) && e.err == nil {
		e.err = fmt.Errorf("%s is not a number that JSON has", literal)
	}
	return &node{kind: number, text: literal}
}

func (e *encoder) jsonNode(literal string) *node {
	n, err := parseJSON(literal)
	if err != nil {
		if e.err == nil {
			e.err = fmt.Errorf("attachment or metadata is not JSON: %w", err)
		}
		return &node{}
	}
	return n
}

// text adds a member unless it is empty.
func (n *node) addText(name, value string) {
	if value != "" {
		n.add(name, textNode(value))
	}
}

// addTrue adds a member that stands there only when it is true.
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
