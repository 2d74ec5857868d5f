package highlight

import (
	"strings"

	"github.com/a-h/templ"
)

// Pieces is the markup of tokens, without an element around them. It is not in a template
// because these put spaces between elements, which count in a pre element.
func Pieces(tokens []Token) templ.Component {
	var markup strings.Builder
	for _, t := range tokens {
		text := templ.EscapeString(t.Text)
		if t.Class != "" {
			text = `<span class="` + t.Class + `">` + text + `</span>`
		}
		markup.WriteString(text)
	}
	return templ.Raw(markup.String())
}
