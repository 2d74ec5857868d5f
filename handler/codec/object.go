package codec

import (
	"io"
	"iter"

	"google.golang.org/protobuf/proto"
)

// ObjectWriter writes the JSON of a message with long lists in pieces, so that the
// message is never in memory as a whole. The output is that of [Marshal] or, if
// pretty is set, of [MarshalPretty]. The caller must write the members in the
// order of declaration.
type ObjectWriter struct {
	out    *Writer
	pretty bool
	open   bool // a member has been written
}

// NewObjectWriter returns a writer that has started the object.
func NewObjectWriter(out io.Writer, pretty bool) *ObjectWriter {
	w := &ObjectWriter{out: NewWriter(out), pretty: pretty}
	if pretty {
		w.out = NewPrettyWriter(out)
	}
	w.out.Raw(`{`)
	return w
}

// begin writes the name of a member.
func (w *ObjectWriter) begin(name string) {
	if w.open {
		w.out.Raw(`,`)
	}
	w.open = true
	w.out.Raw(`"` + name + `":`)
}

// Member writes a member that is a message.
func (w *ObjectWriter) Member(name string, m proto.Message) {
	w.begin(name)
	w.out.Message(m, w.pretty)
}

// WriteList writes a member that is a list of messages.
func WriteList[T any, M proto.Message](w *ObjectWriter, name string, items iter.Seq[T], convert func(T) M) {
	n := 0
	for item := range items {
		if n++; n == 1 {
			w.begin(name)
			w.out.Raw(`[`)
		} else {
			w.out.Raw(`,`)
		}
		if w.out.Message(convert(item), w.pretty); w.out.Err() != nil {
			return
		}
	}
	switch {
	case n > 0:
		w.out.Raw(`]`)
	case !w.pretty:
		w.begin(name)
		w.out.Raw(`[]`)
	}
}

// Text writes a string.
func (w *ObjectWriter) Text(name, text string) {
	if text != "" || !w.pretty {
		w.begin(name)
		w.out.Text(text)
	}
}

// Texts writes a list of texts, or nothing if it is empty.
func (w *ObjectWriter) Texts(name string, texts []string) {
	for i, text := range texts {
		if i == 0 {
			w.begin(name)
			w.out.Raw(`[`)
		} else {
			w.out.Raw(`,`)
		}
		w.out.Text(text)
	}
	if len(texts) > 0 {
		w.out.Raw(`]`)
	}
}

// Count writes a number.
func (w *ObjectWriter) Count(name string, n int32) {
	if n != 0 || !w.pretty {
		w.begin(name)
		w.out.Int(int64(n))
	}
}

// End ends the object and returns the first error of the writer.
func (w *ObjectWriter) End() error {
	w.out.Raw(`}`)
	return w.out.Flush()
}
