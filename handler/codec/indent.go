package codec

import "io"

// indenter indents compact JSON, which it may be given in pieces, like [json.Indent]:
// each member and element on its own line, two spaces per level.
type indenter struct {
	out     io.Writer
	line    []byte
	depth   int
	opened  bool // an object or array has just started
	quoted  bool // inside a string
	escaped bool // after a backslash
}

// Write implements [io.Writer].
func (w *indenter) Write(p []byte) (int, error) {
	w.line = w.line[:0]
	for _, c := range p {
		w.add(c)
	}
	if _, err := w.out.Write(w.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *indenter) add(c byte) {
	if w.quoted {
		w.line = append(w.line, c)
		w.quoted, w.escaped = w.escaped || c != '"', !w.escaped && c == '\\'
		return
	}
	if closes := c == '}' || c == ']'; w.opened != closes {
		// Either the first item of a container follows, or a non-empty one ends.
		if w.opened {
			w.depth++
			w.newline()
		} else {
			w.depth--
			w.newline()
		}
	}
	w.opened = c == '{' || c == '['
	w.line = append(w.line, c)
	switch c {
	case '"':
		w.quoted = true
	case ',':
		w.newline()
	case ':':
		w.line = append(w.line, ' ')
	}
}

func (w *indenter) newline() {
	w.line = append(w.line, '\n')
	for range w.depth {
		w.line = append(w.line, ' ', ' ')
	}
}
