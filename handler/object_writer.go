package handler

import (
	"io"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/service"
)

// objectWriter writes the JSON of a message with long lists in pieces, so that the
// message is never in memory as a whole. The output is that of [codec.Marshal] or, if
// pretty is set, of [codec.MarshalPretty]. The caller must write the members in the
// order of declaration.
type objectWriter struct {
	out    *codec.Writer
	pretty bool
	open   bool // a member has been written
}

func newObjectWriter(out io.Writer, pretty bool) *objectWriter {
	w := &objectWriter{out: codec.NewWriter(out), pretty: pretty}
	if pretty {
		w.out = codec.NewPrettyWriter(out)
	}
	w.out.Raw(`{`)
	return w
}

// begin writes the name of a member.
func (w *objectWriter) begin(name string) {
	if w.open {
		w.out.Raw(`,`)
	}
	w.open = true
	w.out.Raw(`"` + name + `":`)
}

func (w *objectWriter) member(name string, m proto.Message) {
	w.begin(name)
	w.out.Message(m, w.pretty)
}

// writeList writes a member that is a list of messages.
func writeList[T any, M proto.Message](w *objectWriter, name string, items iter.Seq[T], convert func(T) M) {
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

func (w *objectWriter) text(name, text string) {
	if text != "" || !w.pretty {
		w.begin(name)
		w.out.Text(text)
	}
}

func (w *objectWriter) count(name string, n int) {
	if n != 0 || !w.pretty {
		w.begin(name)
		w.out.Int(int64(convert.Count(n)))
	}
}

func (w *objectWriter) end() error {
	w.out.Raw(`}`)
	return w.out.Flush()
}

// writeExport writes the JSON of the message of an export.
func writeExport(out io.Writer, e *service.Export, pretty bool) error {
	w := newObjectWriter(out, pretty)
	w.member("namespace", convert.WireDocumentNamespace(e.Namespace()))
	writeList(w, "flags", e.Flags(), convert.WireDocumentFlag)
	writeList(w, "segments", e.Segments(), convert.WireDocumentSegment)
	return w.end()
}

// writePretty writes the body indented.
func (b *snapshotBody) writePretty(out io.Writer) error {
	parts := newSnapshotWire(b.snapshot, b.profile)
	w := newObjectWriter(out, true)
	w.member("namespace", &evaluation.EvaluationNamespace{Key: b.snapshot.Namespace().Key})
	writeList(w, "flags", slices.Values(b.snapshot.Flags()), parts.flag)
	return w.end()
}
