// Package markup is what the generated code of pages calls: a Writer that collects the markup.
// Templates become code that uses it by infra/tools/templshrink. The calls of a page are
// thousands, so each is one function with few arguments, and there is no error to check: a page
// is collected in memory, which does not fail.
package markup

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/a-h/templ"
)

// A Writer collects markup. It is an io.Writer for components that are not generated.
type Writer struct {
	collected []byte
	inside    templ.Component // what the caller of a component wrote in its braces, or nil
}

// writers are those that are not in use, so that not every page makes its memory grow again.
var writers = sync.Pool{New: func() any { return new(Writer) }}

// maxKept limits the memory of a writer that is not in use, in bytes.
const maxKept = 1 << 20

// Render returns the markup of a component.
func Render(c templ.Component) []byte {
	w := writers.Get().(*Writer)
	w.collected = w.collected[:0]
	w.Show(c)
	page := bytes.Clone(w.collected)
	if w.inside = nil; cap(w.collected) <= maxKept {
		writers.Put(w)
	}
	return page
}

// Raw writes a text that is markup.
func (w *Writer) Raw(markup string) { w.collected = append(w.collected, markup...) }

// Text writes a text that is not markup.
func (w *Writer) Text(text string) { w.collected = appendEscaped(w.collected, text) }

// Put writes markup, followed by a text that is not markup.
func (w *Writer) Put(markup, text string) {
	w.collected = appendEscaped(append(w.collected, markup...), text)
}

// Address writes the value of an attribute that is an address. One of another type than
// [templ.SafeURL] that could run a script is replaced.
func Address[T ~string](w *Writer, address T) {
	if safe, ok := any(address).(templ.SafeURL); ok {
		w.Text(string(safe))
	} else {
		w.Text(string(templ.URL(string(address))))
	}
}

// Attributes writes the attributes of an element.
func (w *Writer) Attributes(attributes templ.Attributer) {
	_ = templ.RenderAttributes(context.Background(), w, attributes)
}

// Show writes a component.
func (w *Writer) Show(c templ.Component) { w.Around(c, nil) }

// Around writes a component that has another one inside.
func (w *Writer) Around(c, inside templ.Component) {
	w.inside = inside
	if generated, ok := c.(Component); ok {
		generated(w)
	} else {
		_ = c.Render(context.Background(), w)
	}
}

// Inside returns what is inside of the component. Its code begins with this call, because it
// holds for one component only.
func (w *Writer) Inside() templ.Component {
	if w.inside == nil {
		return templ.NopComponent
	}
	return w.inside
}

// Write implements io.Writer.
func (w *Writer) Write(markup []byte) (int, error) {
	w.collected = append(w.collected, markup...)
	return len(markup), nil
}

// WriteString implements io.StringWriter.
func (w *Writer) WriteString(markup string) (int, error) {
	w.Raw(markup)
	return len(markup), nil
}

// A Component is the generated code of a component.
type Component func(*Writer)

// Render implements templ.Component.
func (c Component) Render(_ context.Context, out io.Writer) error {
	_, err := out.Write(Render(c))
	return err
}
