package playground

import (
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/code"
	"github.com/guidonhq/guidon/handler/web/page"
)

// share makes the link to the request, and the command that sends the same request.
func (m *model) share(v *page.Visit, context map[string]string) {
	object := contextJSON(m.rows(context))
	if fragment := m.form.fragment(object); fragment != "" && m.form.Draft == "" {
		m.link = v.In("playground") + fragment
	}
	if m.flag != nil && m.form.Draft == "" && len(object) <= maxCurl {
		members := strings.TrimPrefix(object, "{")
		entity := `{"targetingKey":` + page.JSONText(m.form.Entity)
		if members != "}" {
			entity += ","
		}
		m.curl = code.Curl(code.Address(v), v.Key(), m.flag.GetKey(), `{"context":`+entity+members+`}`)
	}
}

// maxCurl limits the context in a command, in bytes.
const maxCurl = 8 << 10

// rows returns the properties in the order in which they were entered.
func (m *model) rows(context map[string]string) (rows []row) {
	keys := keysOf(m.form.JSON)
	if !m.form.AsJSON {
		keys = nil
		for _, r := range m.form.Rows {
			keys = append(keys, r.Key)
		}
	}
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if text, ok := context[key]; ok && !seen[key] {
			seen[key] = true
			rows = append(rows, row{key, text})
		}
	}
	return slices.Clip(rows)
}

// contextJSON returns the rows as an object of JSON on one line.
func contextJSON(rows []row) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(page.JSONText(r.Key) + ":" + valueJSON(r.Value))
	}
	return b.String() + "}"
}
