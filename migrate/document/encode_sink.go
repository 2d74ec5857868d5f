package document

import (
	"bytes"
	"io"

	"go.yaml.in/yaml/v3"
)

// jsonSink writes a document as one line.
type jsonSink struct {
	out  io.Writer
	line []byte
	list string // that has begun
}

func (s *jsonSink) head(n *node) error {
	var err error
	if s.line, err = appendJSON(s.line, n); err == nil {
		s.line = s.line[:len(s.line)-1] // it goes on
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

// yamlSink writes a document in block style.
type yamlSink struct {
	out     io.Writer
	follows bool // another document
	list    string
	held    *yaml.Node // items that are not written yet
	begun   bool       // some of the list are
}

// maxHeldItems is how many items the library writes at once.
const maxHeldItems = 64

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
		if err := s.end(); err != nil {
			return err
		}
		s.list, s.begun = list, false
	}
	if s.held == nil {
		s.held = &yaml.Node{Kind: yaml.SequenceNode}
	}
	s.held.Content = append(s.held.Content, yamlNode(n))
	if len(s.held.Content) < maxHeldItems {
		return nil
	}
	return s.end()
}

// end writes what is held, under the name of the list where that is the first of it.
func (s *yamlSink) end() error {
	if s.held == nil {
		return nil
	}
	text, err := marshalYAML(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{yamlText(s.list), s.held}})
	if err != nil {
		return err
	}
	if s.begun {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	s.held, s.begun = nil, true
	_, err = s.out.Write(text)
	return err
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
