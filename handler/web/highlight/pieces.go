package highlight

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// pieces is the markup of tokens. It is not in a template because these put spaces between
// elements, which count in a pre element.
func pieces(tokens []Token) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, t := range tokens {
			text := templ.EscapeString(t.Text)
			if t.Class == "" {
				b.WriteString(text)
				continue
			}
			b.WriteString(`<span class="` + t.Class + `">` + text + `</span>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}
