package markup

import (
	"bytes"
	"context"
	"html"
	"io"
	"testing"

	"github.com/a-h/templ"
)

// box is a component that shows what is inside of it twice, between other components.
func box(name string) templ.Component {
	return Component(func(w *Writer) {
		inside := w.Inside()
		w.Put("<b>", name)
		w.Show(leaf("first"))
		w.Show(inside)
		w.Show(inside)
		w.Raw("</b>")
	})
}

// leaf is a component that shows nothing inside of it.
func leaf(name string) templ.Component {
	return Component(func(w *Writer) { w.Put("<i>", name) })
}

// foreign is a component that is not generated.
func foreign(markup string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, markup)
		return err
	})
}

// TestRender: components write markup in their order, and what is inside of one is not inside
// of another.
func TestRender(t *testing.T) {
	tests := []struct {
		name string
		page func(*Writer)
		want string
	}{
		{"text", func(w *Writer) { w.Raw("<p>"); w.Text("a<b"); w.Put("</p><p>", "c&d") }, "<p>a&lt;b</p><p>c&amp;d"},
		{"component", func(w *Writer) { w.Show(leaf("x")); w.Show(foreign("<hr>")) }, "<i>x<hr>"},
		{"nothing inside", func(w *Writer) { w.Show(box("x")) }, "<b>x<i>first</b>"},
		{"inside", func(w *Writer) { w.Around(box("x"), leaf("y")) }, "<b>x<i>first<i>y<i>y</b>"},
		{
			"inside of the inner one",
			func(w *Writer) {
				w.Around(box("x"), Component(func(w *Writer) { w.Around(box("y"), foreign("<hr>")) }))
			},
			"<b>x<i>first<b>y<i>first<hr><hr></b><b>y<i>first<hr><hr></b></b>",
		},
		{"not inside of the next one", func(w *Writer) { w.Around(leaf("x"), leaf("y")); w.Show(box("z")) }, "<i>x<b>z<i>first</b>"},
		{"not inside of a part", func(w *Writer) {
			w.Around(Component(func(w *Writer) { w.Show(box("x")) }), leaf("y"))
		}, "<b>x<i>first</b>"},
		{"attributes", func(w *Writer) { w.Attributes(templ.Attributes{"title": `"x"`, "hidden": true}) }, ` hidden title="&#34;x&#34;"`},
		{"address", func(w *Writer) { Address(w, "/a?b=1&c=2") }, "/a?b=1&amp;c=2"},
		{"address with a script", func(w *Writer) { Address(w, "javascript:alert(1)") }, "about:invalid#TemplFailedSanitizationURL"},
		{"own address", func(w *Writer) { Address(w, templ.SafeURL("guidon:a&b")) }, "guidon:a&amp;b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(Render(Component(test.page))); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			var out bytes.Buffer
			if err := Component(test.page).Render(t.Context(), &out); err != nil || out.String() != test.want {
				t.Errorf("into a writer: got %s, %v, want %s", out.String(), err, test.want)
			}
		})
	}
}

// TestText: every text is escaped as the standard library does it.
func TestText(t *testing.T) {
	for _, text := range []string{"", "plain", `<script>alert("1")</script>`, "'&amp;'", "<", "é<ü>\x00\xff", "a&b&&"} {
		var w Writer
		w.Text(text)
		if got, want := string(w.collected), html.EscapeString(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestClasses(t *testing.T) {
	if got, want := Classes("a", templ.KV("b", false), templ.KV("c d", true)), "a c d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
