package highlight

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/markup"
)

// Pieces is the markup of tokens, without an element around them. It is not in a template
// because these put spaces between elements, which count in a pre element.
func Pieces(tokens []Token) templ.Component {
	return markup.Component(func(w *markup.Writer) {
		for _, t := range tokens {
			if t.Class == "" {
				w.Text(t.Text)
				continue
			}
			w.Raw(`<span class="` + t.Class + `">`)
			w.Text(t.Text)
			w.Raw(`</span>`)
		}
	})
}
