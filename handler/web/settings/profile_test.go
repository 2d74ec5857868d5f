package settings_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestProfile: visitors see who they are, and what they may do where.
func TestProfile(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, "editor@default,pay-*=oidc:google:email:ada@example.com")})
	s.Get("/settings/profile").Check(200).Contains("Mira", "Signed in with a static token · ends in", "Admin All Your token")
	limited := s.As(s.SignIn(service.TokenInput{Name: "ci", Role: service.RoleViewer, Namespaces: []string{"default"}}))
	limited.Get("/settings/profile").Check(200).Contains("ci", "View Default").Lacks("Admin")
	ada := s.As(person(t, s, "ada", "Ada", service.ClientBrowser))
	ada.Get("/settings/profile").Check(200).Contains("Ada ada@example.com · Signed in with the provider google · ends in 59 min", "Edit Default pay-* The server's configuration gives it to oidc:google:email:ada@example.com")
	if got := s.Get("/settings").Location(); got != "/settings/profile" {
		t.Errorf("/settings leads to %s", got)
	}
	open := webtest.New(t, webtest.Options{Open: true})
	open.Get("/settings/profile").Check(200).Contains("Anonymous", "requires no authentication", "Admin All Roles are not enforced on this server").Lacks("Sign out")
}

// TestSections: only administrators of everything have links to tokens and access, and
// others get a page that says what it takes.
func TestSections(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: false})
	if diff := cmp.Diff([]string{"Profile", "Sessions", "Namespaces", "Static Tokens", "Access", "Webhooks", "Records", "Import and export", "Server"}, subnav(s.Get("/settings/profile"))); diff != "" {
		t.Errorf("sections of an administrator (-want +got):\n%s", diff)
	}
	for _, in := range []service.TokenInput{
		{Name: "viewer", Role: service.RoleViewer}, {Name: "editor", Role: service.RoleEditor},
		{Name: "admin of one", Role: service.RoleAdmin, Namespaces: []string{"default"}},
	} {
		other := s.As(s.SignIn(in))
		if diff := cmp.Diff([]string{"Profile", "Sessions", "Namespaces", "Import and export", "Server"}, subnav(other.Get("/settings/profile"))); diff != "" {
			t.Errorf("sections of %s (-want +got):\n%s", in.Name, diff)
		}
		for _, path := range []string{"tokens", "new-token", "tokens/x/delete", "access", "new-binding", "access/x/delete", "end-access", "records"} {
			other.Get("/settings/"+path).Check(403).Contains("This takes Admin everywhere", "Ask one of them")
		}
		for _, path := range []string{"new-token", "tokens/x/delete", "new-binding", "access/x/delete", "end-access"} {
			other.Post("/settings/"+path, url.Values{"do": {"confirm"}, "name": {"x"}, "role": {"admin"}, "expires": {"30"}, "subject": {"oidc:google:*"}}).Check(403).Contains("This takes Admin everywhere")
		}
	}
	if got := s.As("").Get("/settings/tokens").Location(); got != "/sign-in?return_to=%2Fsettings%2Ftokens" {
		t.Errorf("a stranger is led to %s", got)
	}
}

// TestAppearance: the browser remembers theme, time zone and keys, and pages use them.
func TestAppearance(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	action, fields := s.Get("/settings/profile").Check(200).Form("appearance")
	if diff := cmp.Diff(url.Values{"theme": {"system"}, "zone": {""}, "keys": {"on"}}, fields); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	changed := with(fields, "theme", "dark", "zone", " Asia/Kathmandu ")
	changed.Del("keys")
	r := s.Post(action, changed)
	if got := r.Location(); got != "/settings/profile?saved=appearance" {
		t.Errorf("leads to %s", got)
	}
	c := r.Result.Cookies()[0]
	if c.Name != "guidon_preferences" || !c.HttpOnly || c.Path != "/" || c.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %v", c)
	}
	p := s.Get("/settings/profile?saved=appearance", "Cookie", cookie(r, "guidon_preferences")).Check(200).Contains("Saved in this browser", "in Asia/Kathmandu", "+0545")
	html := p.All("html")[0]
	if webtest.Attribute(html, "data-theme") != "dark" || webtest.Attribute(html, "data-shortcuts") != "off" {
		t.Errorf("the page has %v", html.Attr)
	}
	if _, again := p.Form("appearance"); !cmp.Equal(again, url.Values{"theme": {"dark"}, "zone": {"Asia/Kathmandu"}}) {
		t.Errorf("then the form has %v", again)
	}
	for _, test := range []struct{ name, value, want string }{
		{"zone", "Europe/Nowhere", "No such time zone"}, {"zone", "Local", "No such time zone"}, {"zone", "../etc/passwd", "No such time zone"},
		{"zone", strings.Repeat("x", 300), "No such time zone"}, {"theme", "pink", "Choose one of the themes"},
	} {
		r := s.Post(action, with(fields, test.name, test.value, "keys", "on")).Check(422).Contains("1 thing to fix", test.want, "Nothing was saved")
		if cookie(r, "guidon_preferences") != "" {
			t.Errorf("%s %q was saved", test.name, test.value)
		}
		if test.name == "zone" && value(r, "zone") != test.value {
			t.Errorf("the field has %q, want %q", value(r, "zone"), test.value)
		}
	}
}

// TestOffered: every time zone that the profile offers exists.
func TestOffered(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	zones := 0
	for _, n := range s.Get("/settings/profile").All("option") {
		zones++
		if err := page.CheckZone(webtest.Attribute(n, "value")); err != nil {
			t.Error(err)
		}
	}
	if zones < 50 {
		t.Errorf("%d zones", zones)
	}
}

// TestSignOutEverywhere: the button ends all sessions of the visitor, and only those.
func TestSignOutEverywhere(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t)})
	ada, cli, eve := person(t, s, "ada", "Ada", service.ClientBrowser), person(t, s, "ada", "Ada", service.ClientCLI), person(t, s, "eve", "Eve", service.ClientBrowser)
	action, fields := s.As(ada).Get("/settings/profile").Form("sign-out-everywhere")
	if got := s.As(ada).Post(action, fields).Location(); got != "/sign-in" {
		t.Errorf("leads to %s", got)
	}
	for _, ended := range []string{ada, cli} {
		if got := s.As(ended).Get("/settings/profile"); got.Status != http.StatusSeeOther {
			t.Errorf("got %d, the session goes on", got.Status)
		}
	}
	s.As(eve).Get("/settings/profile").Check(200)
}
