package web

import (
	"bytes"
	"embed"
	"html/template"

	"github.com/guidonhq/guidon/handler/exchange"
)

// page is the name of a template.
type page string

// The pages. Each is a file in templates, which layout.html surrounds.
const (
	pageSignIn      page = "sign-in"
	pageSignedIn    page = "signed-in"
	pageSignedOut   page = "signed-out"
	pageOpen        page = "open"
	pageCommandLine page = "command-line"
	pageCode        page = "code"
	pageDenied      page = "denied"
	pageError       page = "error"
)

var allPages = []page{pageSignIn, pageSignedIn, pageSignedOut, pageOpen, pageCommandLine, pageCode, pageDenied, pageError}

//go:embed templates
var templateFiles embed.FS

// parseTemplates returns the templates, whose links are below the site's public path.
func (s *Site) parseTemplates() map[page]*template.Template {
	functions := template.FuncMap{"path": s.path, "asset": func(name string) string { return s.path(assetAddress(name)) }}
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html"))
	templates := make(map[page]*template.Template, len(allPages))
	for _, name := range allPages {
		templates[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+string(name)+".html"))
	}
	return templates
}

// reply responds with the page.
func (s *Site) reply(x *exchange.Exchange, status int, name page, model any) {
	var body bytes.Buffer
	if err := s.templates()[name].Execute(&body, model); err != nil {
		panic(err) // a model that does not fit its template; a test executes each
	}
	x.Reply(status, "text/html; charset=utf-8", body.Bytes())
}
