package playground

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// width returns a number as a percentage of a drawing.
func width(n float64) string { return strconv.FormatFloat(n, 'f', 3, 64) + "%" }

// maxCopied limits the text that a button copies, in bytes, because the page has it twice.
const maxCopied = 64 << 10

// copied returns the attachment for its button, or "" if it is too long.
func (x *answer) copied() string {
	if len(x.attachment()) > maxCopied {
		return ""
	}
	return x.attachment()
}

// announcement is the text that screen readers read when the answer arrives.
func (m *model) announcement() string {
	switch {
	case m.answer != nil:
		return "The answer is " + m.answer.outcome().Name
	case m.list != nil:
		return m.list.bounds()
	}
	return ""
}

// spans is the markup of a sentence. It is not in a template because these put spaces between
// elements, where a sentence has commas.
func spans(all []span) templ.Component {
	var markup strings.Builder
	for _, s := range all {
		text := templ.EscapeString(s.Text)
		if s.Code {
			text = "<code>" + text + "</code>"
		}
		markup.WriteString(text)
	}
	return templ.Raw(markup.String())
}

// looksAt names the properties that the flag compares.
func (m *model) looksAt() []span {
	words := []span{plain("This flag looks at ")}
	for i, p := range m.info.Properties {
		if i > 0 {
			words = append(words, plain(", "))
		}
		words = append(words, codeSpan(p.Name))
	}
	if m.info.Partial {
		words = append(words, plain(" and more"))
	}
	return append(words, plain("."))
}

// savedFlag returns the key of the flag that saved contexts are asked about, or "".
func (m *model) savedFlag() string {
	if m.flag == nil {
		return ""
	}
	return m.flag.GetKey()
}
