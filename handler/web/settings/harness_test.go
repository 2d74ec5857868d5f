package settings_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// everyone admits everybody.
type everyone struct{}

func (everyone) Admits(*service.Authentication) bool { return true }
func (everyone) Names(string) bool                   { return false }

// people is a policy for people of a provider, who may view everything unless a binding
// says otherwise.
func people(t *testing.T, bindings ...string) service.Policy {
	t.Helper()
	configured, err := service.ConfiguredBindings(bindings)
	if err != nil {
		t.Fatal(err)
	}
	p := service.Policy{Enforced: true, Bindings: configured, Admissions: map[string]service.Admission{"oidc:google": everyone{}}}
	p.Defaults[service.MethodOIDC] = service.RoleViewer
	return p
}

// person returns a new session of a person.
func person(t *testing.T, s *webtest.Server, sub, name string, client service.Client) string {
	t.Helper()
	token, _, err := s.Service.SignIn(t.Context(), service.Write{}, service.SignIn{
		Identity: &service.Identity{
			Method: service.MethodOIDC, Provider: "google", Subject: "oidc:google:sub:" + sub,
			Subjects: []string{"oidc:google:email:" + sub + "@example.com"},
			Metadata: map[string]string{"io.service.auth.name": name, "io.service.auth.email": sub + "@example.com", "io.service.auth.oidc.provider": "google"},
		},
		Client: client, Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// with returns the fields with some changed: names and values in turn.
func with(fields url.Values, changes ...string) url.Values {
	changed := make(url.Values)
	for name, values := range fields {
		changed[name] = values
	}
	for i := 0; i < len(changes); i += 2 {
		changed.Set(changes[i], changes[i+1])
	}
	return changed
}

// buttons returns the texts of the buttons and links that look like buttons in the main
// part of a page.
func buttons(r *webtest.Reply) (texts []string) {
	for _, main := range r.All("main") {
		for n := range main.Descendants() {
			if n.Type == html.ElementNode && (n.Data == "button" || n.Data == "a" && strings.Contains(webtest.Attribute(n, "class"), "btn")) {
				texts = append(texts, webtest.TextOf(n))
			}
		}
	}
	return texts
}

// subnav returns the links to the sections.
func subnav(r *webtest.Reply) (texts []string) {
	for _, n := range r.All("nav") {
		if webtest.Attribute(n, "aria-label") == "Settings" {
			for a := range n.Descendants() {
				if a.Type == html.ElementNode && a.Data == "a" {
					texts = append(texts, webtest.TextOf(a))
				}
			}
		}
	}
	return texts
}

// value returns the value of the element with the id.
func value(r *webtest.Reply, id string) string {
	for _, n := range r.All("") {
		if webtest.Attribute(n, "id") == id {
			return webtest.Attribute(n, "value")
		}
	}
	return ""
}

// cookie returns the cookie with the name that the reply sets, as a request sends it.
func cookie(r *webtest.Reply, name string) string {
	for _, c := range r.Result.Cookies() {
		if c.Name == name {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}
