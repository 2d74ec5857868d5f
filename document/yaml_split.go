package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The nodes of the YAML library take fifty times the memory of the input. So a long stream
// is split at the lines where a flag or segment begins, and the library parses a few of
// them at a time. Only the usual form can be split: lists in block style under the names
// flags and segments. Any other form is read as a whole.
const (
	minSplitSize   = 1 << 20   // bytes from which a stream is split
	maxUnsplitSize = 16 << 20  // bytes up to which a stream is read as a whole
	chunkSize      = 128 << 10 // bytes that are parsed together, unless one item is larger
)

// yamlPart is a document of a split stream.
type yamlPart struct {
	head  []byte // with comments instead of the lists
	line  int    // number of lines of the stream before the part
	lines int    // number of lines of head
	lists []yamlList
}

// yamlList is a list of a document, in chunks of whole items.
type yamlList struct {
	name   string
	chunks []yamlChunk
}

type yamlChunk struct {
	text []byte
	line int // number of lines of the stream before the chunk
}

var errNotSplittable = errors.New("not in block style")

// splitYAML returns a function that reads the documents of the stream, or an error if they cannot
// be read in parts.
func splitYAML(input []byte) (next func() (*node, error), err error) {
	parts, err := partsOf(input)
	switch {
	case err != nil:
		return nil, err
	case len(parts) > maxDocuments:
		return nil, errTooManyDocuments()
	}
	documents := make([]*node, len(parts))
	for i := range parts {
		if documents[i], err = parts[i].document(); err != nil {
			return nil, err
		}
	}
	return func() (n *node, err error) {
		if len(documents) == 0 {
			return nil, io.EOF
		}
		n, documents = documents[0], documents[1:]
		return n, nil
	}, nil
}

// partsOf splits the stream, or returns errNotSplittable.
func partsOf(input []byte) ([]yamlPart, error) {
	if hasOtherBreaks(input) {
		return nil, errNotSplittable
	}
	var parts []yamlPart
	part, current := yamlPart{}, (*yamlList)(nil)
	started, indent, number := false, -1, 0
	for rest := input; len(rest) > 0; {
		end := cmp.Or(bytes.IndexByte(rest, '\n')+1, len(rest))
		line := rest[:end] // keeps the rest as its capacity, for extend
		rest = rest[end:]
		text := bytes.TrimRight(line, " \t\r\n")
		at := len(text) - len(bytes.TrimLeft(text, " "))
		switch {
		case string(text) == "---":
			if started {
				parts = append(parts, part)
			}
			part, current, started = yamlPart{line: number + 1}, nil, true
		case len(text) == at || text[at] == '#': // blank, or a comment
			part.add(current, line, number)
		case at == 0 && isLetter(text[0]):
			started, current, indent = true, nil, -1
			if name := string(text); name == "flags:" || name == "segments:" {
				part.lists = append(part.lists, yamlList{name: name[:len(name)-1]})
				current = &part.lists[len(part.lists)-1]
			} else {
				part.addHead(line, number)
			}
		case current == nil && at > 0:
			part.addHead(line, number)
		case current == nil:
			return nil, errNotSplittable
		case text[at] == '-' && (at+1 == len(text) || text[at+1] == ' ') && (indent < 0 || at == indent):
			indent = at
			current.begin(line, number)
		case at <= indent || indent < 0:
			return nil, errNotSplittable
		default:
			part.add(current, line, number)
		}
		number++
	}
	if started {
		parts = append(parts, part)
	}
	return parts, nil
}

// hasOtherBreaks reports whether YAML finds an end of a line where there is no LF.
func hasOtherBreaks(input []byte) bool {
	return bytes.Count(input, []byte("\r")) != bytes.Count(input, []byte("\r\n")) ||
		slices.ContainsFunc([]string{"\u0085", "\u2028", "\u2029"}, func(end string) bool { return bytes.Contains(input, []byte(end)) })
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// add adds a line to the current item, or to the head if there is none.
func (p *yamlPart) add(list *yamlList, line []byte, number int) {
	if list == nil || len(list.chunks) == 0 {
		p.addHead(line, number)
		return
	}
	list.extend(line)
}

// addHead adds the line with the number to the head, where it keeps its number.
func (p *yamlPart) addHead(line []byte, number int) {
	for ; p.lines < number-p.line; p.lines++ {
		p.head = append(p.head, "#\n"...)
	}
	p.head = append(p.head, line...)
	p.lines++
}

// begin adds the first line of an item.
func (l *yamlList) begin(line []byte, number int) {
	if n := len(l.chunks); n > 0 && len(l.chunks[n-1].text) < chunkSize {
		l.extend(line)
		return
	}
	l.chunks = append(l.chunks, yamlChunk{text: line, line: number})
}

// extend adds the line to the last chunk, which it follows in the stream.
func (l *yamlList) extend(line []byte) {
	last := &l.chunks[len(l.chunks)-1]
	last.text = last.text[:len(last.text)+len(line)]
}

// document returns the document, whose lists are read when they are needed.
func (p *yamlPart) document() (*node, error) {
	n := &node{kind: object}
	switch {
	case len(bytes.TrimSpace(p.head)) > 0:
		var err error
		if n, err = parseYAML(p.head, p.line); err != nil {
			return nil, err
		}
	case len(p.lists) == 0:
		n.kind = null
	}
	for _, l := range p.lists {
		_, twice := n.set(member{name: l.name, value: &node{kind: list, later: l.each}})
		if twice || n.kind != object {
			return nil, errNotSplittable
		}
	}
	return n, nil
}

// each reads the items.
func (l *yamlList) each(use func(item *node) error) error {
	return processOrdered(l.chunks, yamlChunk.parse, func(items *node) error {
		if items.kind != list {
			return errNotSplittable
		}
		return items.each(use)
	})
}

func (c yamlChunk) parse() (*node, error) {
	items, err := parseYAML(c.text, c.line)
	if err != nil {
		return nil, fmt.Errorf("in the part that begins at line %d: %w", c.line+1, err)
	}
	return items, nil
}

// parseYAML reads the only document in text. line is the number of lines of the stream
// before it.
func parseYAML(text []byte, line int) (*node, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		return nil, err
	}
	shiftLines(&n, line)
	return newYAMLReader().read(&n, maxDepth)
}

// shiftLines adds to the line numbers of the node and its descendants.
func shiftLines(n *yaml.Node, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		shiftLines(child, lines)
	}
}
