package document

import (
	"bytes"
	"io"
	"runtime"
	"slices"

	"go.yaml.in/yaml/v3"
)

// jsonSink writes a document as one line.
type jsonSink struct {
	out  io.Writer
	line []byte
	list string // the current list
}

func (s *jsonSink) head(n *node) error {
	var err error
	if s.line, err = appendJSON(s.line, n); err == nil {
		s.line = s.line[:len(s.line)-1] // the object continues
	}
	return err
}

func (s *jsonSink) item(list string, n *node) error {
	switch {
	case list == s.list:
		s.line = append(s.line, ',')
	case s.list != "":
		s.line = append(s.line, "],\""+list+"\":["...)
	default:
		s.line = append(s.line, ",\""+list+"\":["...)
	}
	s.list = list
	var err error
	if s.line, err = appendJSON(s.line, n); err != nil {
		return err
	}
	return s.flush()
}

func (s *jsonSink) flush() error {
	_, err := s.out.Write(s.line)
	s.line = s.line[:0]
	return err
}

func (s *jsonSink) end() error {
	if s.list != "" {
		s.line = append(s.line, ']')
	}
	s.line = append(s.line, "}\n"...)
	return s.flush()
}

// yamlSink writes a document in block style. The library encodes some items while the next
// ones are collected.
type yamlSink struct {
	out     io.Writer
	follows bool // this is not the first document
	list    string
	queued  []*node                  // items of the list that are not being encoded yet
	started bool                     // encoding of the list has started
	pending []func() ([]byte, error) // wait for encoded items, in the order in which they are written
}

// maxQueuedItems is how many items the library encodes together.
const maxQueuedItems = 64

func (s *yamlSink) head(n *node) error {
	if s.follows {
		if _, err := io.WriteString(s.out, "---\n"); err != nil {
			return err
		}
	}
	text, err := marshalYAML(yamlNode(n))
	if err == nil {
		_, err = s.out.Write(text)
	}
	return err
}

func (s *yamlSink) item(list string, n *node) error {
	if list != s.list {
		if err := s.encodeQueued(); err != nil {
			return err
		}
		s.list, s.started = list, false
	}
	s.queued = append(s.queued, n)
	if len(s.queued) < maxQueuedItems {
		return nil
	}
	return s.encodeQueued()
}

func (s *yamlSink) end() error {
	if err := s.encodeQueued(); err != nil {
		return err
	}
	return s.write(0)
}

// encodeQueued starts to encode the queued items.
func (s *yamlSink) encodeQueued() error {
	if len(s.queued) == 0 {
		return nil
	}
	list, items, started := s.list, s.queued, s.started
	s.queued, s.started = nil, true
	s.pending = append(s.pending, start(func() ([]byte, error) { return itemsYAML(list, items, started) }))
	return s.write(runtime.GOMAXPROCS(0))
}

// write writes the pending items in order, except the last keep chunks.
func (s *yamlSink) write(keep int) error {
	for len(s.pending) > keep {
		text, err := s.pending[0]()
		s.pending = slices.Delete(s.pending, 0, 1)
		if err == nil {
			_, err = s.out.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// itemsYAML encodes items of a list. It omits the name of the list if encoding of the list
// has already started.
func itemsYAML(list string, items []*node, started bool) ([]byte, error) {
	sequence := &yaml.Node{Kind: yaml.SequenceNode}
	for _, n := range items {
		sequence.Content = append(sequence.Content, yamlNode(n))
	}
	text, err := marshalYAML(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{yamlText(list), sequence}})
	if started {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
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
