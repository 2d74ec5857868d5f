package playground

import (
	"cmp"
	"strings"

	"github.com/guidonhq/guidon/handler/web/code"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/internal/lists"
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
		m.curl = code.Curl(v.Address(), v.Key(), m.flag.GetKey(), `{"context":`+entity+members+`}`)
	}
}

// maxCurl limits the context in a command, in bytes.
const maxCurl = 8 << 10

// rows returns the properties in the order in which they were entered.
func (m *model) rows(context map[string]string) (rows []row) {
	keys := lists.Map(m.form.Rows, func(r row) string { return r.Key })
	if m.form.AsJSON {
		keys = lists.Map(page.Members(m.form.JSON), func(m page.Member) string { return m.Key })
	}
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if text, ok := context[key]; ok && !seen[key] {
			seen[key] = true
			rows = append(rows, row{key, text})
		}
	}
	return rows
}

// contextJSON returns the rows as an object of JSON on one line.
func contextJSON(rows []row) string {
	members := lists.Map(rows, func(r row) page.Member { return page.Member{Key: r.Key, Raw: valueJSON(r.Value)} })
	return cmp.Or(page.ObjectOf(members), "{}")
}
