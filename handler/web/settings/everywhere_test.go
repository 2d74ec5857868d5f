package settings_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// everyPage gets every page of this package, and the responses to its forms.
func everyPage(t *testing.T, s *webtest.Server, below string) map[string]*webtest.Reply {
	t.Helper()
	token := tokens(t, s)[0].ID
	binding, err := s.Service.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, "oidc:google:*", nil)
	if err != nil {
		t.Fatal(err)
	}
	pages := make(map[string]*webtest.Reply)
	webhook := "/settings/webhooks/" + hook(t, s, service.Everywhere, service.WebhookInput{Name: "Stored"}).ID
	for _, path := range []string{
		"/settings/webhooks", "/settings/new-webhook", webhook, webhook + "/delete", "/settings/webhooks/none", "/settings/records?kind=webhook",
		"/namespaces/other/webhooks", "/namespaces/other/new-webhook",
		"/settings/profile", "/settings/sessions", "/settings/tokens", "/settings/new-token", "/settings/tokens/" + token + "/delete", "/settings/tokens/none/delete",
		"/settings/access", "/settings/new-binding", "/settings/access/" + binding.ID + "/delete", "/settings/end-access", "/settings/end-access?subject=oidc:google:sub:ada",
		"/settings/namespaces", "/settings/new-namespace", "/namespaces/other/settings", "/namespaces/other/delete", "/namespaces/default/delete", "/settings/server", "/shortcuts", "/settings",
	} {
		pages["GET "+path] = s.Get(path)
	}
	for path, form := range map[string]url.Values{
		"/settings/profile": {"zone": {"x"}}, "/settings/new-token": {}, "/settings/new-binding": {}, "/settings/new-namespace": {},
		"/namespaces/other/settings": {"name": {"x"}}, "/namespaces/other/delete": {"key": {"x"}}, "/settings/sessions": {},
		"/settings/end-access": {}, "/settings/tokens/" + token + "/delete": {},
	} {
		pages["POST "+path] = s.Post(path, form)
	}
	pages["created"] = s.Post("/settings/new-token", url.Values{"name": {"ci"}, "role": {"viewer"}, "where": {"all"}, "expires": {"30"}})
	for _, verb := range []string{"", "save", "replay", "rotate", "test", "pause", "resume"} {
		pages["webhook "+verb] = s.Post(webhook, url.Values{"do": {verb}, "name": {"x"}, "of": {"other"}, "revision": {"1"}, "overlap": {"1h"}})
	}
	pages["delete webhook"] = s.Post(webhook+"/delete", nil)
	pages["new webhook"] = s.Post("/settings/new-webhook", url.Values{})
	pages["webhook created"] = s.Post("/settings/new-webhook", url.Values{"name": {"x"}, "url": {hookURL}})
	pages["appearance"] = s.Post("/settings/profile", url.Values{"theme": {"dark"}})
	pages["session"] = s.Post("/settings/sessions", url.Values{"do": {"end-others"}})
	return pages
}

// checkBelow checks that all addresses of the reply are below the prefix.
func checkBelow(t *testing.T, name string, r *webtest.Reply, below string) {
	t.Helper()
	if r.Status == http.StatusSeeOther {
		if got := r.Location(); !strings.HasPrefix(got, below+"/") {
			t.Errorf("%s leads to %s", name, got)
		}
	}
	for _, n := range r.All("") {
		for _, a := range n.Attr {
			address := a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "formaction" || a.Key == "data-stream"
			if address && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, below+"/") {
				t.Errorf("%s: %s has %s=%q", name, n.Data, a.Key, a.Val)
			}
		}
	}
	for _, c := range r.Result.Cookies() {
		if c.Name == "guidon_preferences" && c.Path != below+"/" {
			t.Errorf("%s: the cookie is for %s", name, c.Path)
		}
	}
}

// TestBelowPrefix: below the path of the public URL, or the prefix that the runtime has
// removed, all addresses are below it.
func TestBelowPrefix(t *testing.T) {
	removed := func(prefix string) func(c *page.Config) {
		return func(c *page.Config) { c.RemovedPath = func(*http.Request) string { return prefix } }
	}
	for name, test := range map[string]struct {
		configure func(c *page.Config)
		want      string
	}{
		"public URL":                   {func(c *page.Config) { c.PublicURL, c.PublicPath = "https://flags.example/a/b", "/a/b" }, "/a/b"},
		"stage":                        {removed("/prod"), "/prod"},
		"stage and base path":          {removed("/prod/flags-ui/"), "/prod/flags-ui"},
		"nothing removed":              {removed(""), ""},
		"the public URL is known":      {func(c *page.Config) { removed("/prod")(c); c.PublicURL = "https://flags.example" }, ""},
		"a prefix that is not allowed": {removed("//evil.example"), ""},
		"characters":                   {removed(`/"><script>`), ""},
		"too long":                     {removed("/" + strings.Repeat("a", 600)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := webtest.New(t, webtest.Options{Page: test.configure, Policy: people(t), Send: sends(204, "", "")})
			person(t, s, "ada", "Ada", service.ClientBrowser)
			create(t, s, service.NamespaceInput{Key: "other", Name: "Other"})
			for name, r := range everyPage(t, s, test.want) {
				checkBelow(t, name, r, test.want)
			}
			for _, path := range []string{"/", "/sign-in", "/settings/tokens", "/nothing"} {
				checkBelow(t, path, s.As("").Get(path), test.want)
			}
			body := s.Get("/settings/profile").All("body")[0]
			if got := webtest.Attribute(body, "data-base"); got != test.want {
				t.Errorf("scripts get the base %q, want %q", got, test.want)
			}
		})
	}
}

// TestEveryPage: every page is complete, and none is kept by a cache.
func TestEveryPage(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t), Send: sends(204, "", "")})
	person(t, s, "ada", "Ada", service.ClientBrowser)
	create(t, s, service.NamespaceInput{Key: "other", Name: "Other"})
	for name, r := range everyPage(t, s, "") {
		r.Check(r.Status)
		if r.Status >= 500 || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %v", name, r.Status, r.Header)
		}
	}
}

// hostile are texts that must stay texts.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `" onfocus="alert(1)" autofocus x="`, "` onload=`alert(1)",
	`</title></h1></main></body><script>1</script>`, `</a><a href="javascript:alert(1)">`, `</form><form action=//evil.example>`, `</textarea><script>1</script>`,
	`</select><option>`, `<base href=//evil.example/>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `<iframe srcdoc="<script>1</script>">`,
	`<plaintext>`, `<style>*{display:none}</style>`, `<!--`, `--><script>1</script>`, `<![CDATA[<script>1</script>]]>`, `javascript:alert(1)`, `//evil.example`, `/\evil.example`,
	`{{.}}`, `${7*7}`, `%3Cscript%3E`, `%0d%0aSet-Cookie:a=b`, `&lt;script&gt;`, `&quot; onload=x`, "a\u202eb", "\u2066a\u2069b", "a\u2028b", "＜script＞", "مرحبا", "👩‍👩‍👧", `"`, `'`, `\`, `<`, `>`,
	strings.Repeat("<b>", 80), strings.Repeat(`"'`, 120), strings.Repeat("w", 255),
}

// skeleton returns the elements of the main part of a page, with the attributes that do
// something.
func skeleton(r *webtest.Reply) string {
	var b strings.Builder
	for _, main := range r.All("main") {
		for n := range main.Descendants() {
			if n.Type == html.ElementNode {
				b.WriteString(n.Data)
				for _, a := range n.Attr {
					if a.Key == "value" || a.Key == "action" || strings.HasPrefix(a.Val, "av ") || strings.HasPrefix(a.Key, "aria-") || a.Key == "title" || strings.HasPrefix(a.Key, "data-") || a.Key == "href" || a.Key == "datetime" {
						continue
					}
					b.WriteString(" " + a.Key + "=" + a.Val)
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// without returns the fields without one, and with some changed: names and values in turn.
func without(fields url.Values, name string, changes ...string) url.Values {
	fields = with(fields, changes...)
	delete(fields, name)
	return fields
}

// hookNamed creates a webhook with the name, or with a plain one if that is refused.
func hookNamed(t *testing.T, s *webtest.Server, name string) *service.Webhook {
	t.Helper()
	in := service.WebhookInput{Name: name, URL: hookURL}
	if view, _, err := s.Service.CreateWebhook(t.Context(), service.Write{}, service.Everywhere, in); err == nil {
		return view.Webhook
	}
	t.Logf("%q is not a name", name)
	return hook(t, s, service.Everywhere, service.WebhookInput{Name: "plain"})
}

// TestHostile: whatever somebody else has chosen as a text, a page consists of the same
// elements.
func TestHostile(t *testing.T) {
	var want map[string]string
	for i, text := range append([]string{"plain", "plain"}, hostile...) {
		s := webtest.New(t, webtest.Options{Policy: people(t), Empty: true, Send: sends(502, text, text), Page: func(c *page.Config) { c.Interface.Message, c.Interface.TopbarLabel = text, text }})
		blue := guidon.Blue
		create(t, s, service.NamespaceInput{Key: "other", Name: text, Description: text, Color: &blue})
		if _, _, err := s.Service.CreateToken(t.Context(), service.Write{By: service.Caller{}}, service.TokenInput{Name: text, Description: text}); err != nil {
			t.Fatal(err)
		}
		named := tokens(t, s)[1].ID
		if _, err := s.Service.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, "jwt:group:"+text, nil); err != nil {
			t.Logf("%q is not a subject: %v", text, err) // then it cannot be on a page
			if _, err := s.Service.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, "jwt:group:plain", nil); err != nil {
				t.Fatal(err)
			}
		}
		bindings, err := s.Service.ListBindings(t.Context(), service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		webhook := "/settings/webhooks/" + hookNamed(t, s, text).ID
		s.Post(webhook, url.Values{"do": {"test"}})
		ada := s.As(person(t, s, "ada", text, service.ClientBrowser))
		form := url.Values{"name": {text}, "description": {text}, "key": {text}, "subject": {text}, "role": {text}, "where": {"some"}, "namespaces": {text}, "expires": {"date"}, "date": {text}, "zone": {text}, "theme": {text}, "color": {text}, "base": {text}, "shown": {text}, "do": {text}, "url": {text}, "keys": {text}, "headers": {text}, "events": {text}, "format": {text}, "revision": {text}, "of": {text}, "overlap": {text}}
		pages := map[string]*webtest.Reply{
			"tokens": s.Get("/settings/tokens"), "delete token": s.Get("/settings/tokens/" + named + "/delete"),
			"access": s.Get("/settings/access"), "delete binding": s.Get("/settings/access/" + bindings[0].ID + "/delete"),
			"end": s.Get("/settings/end-access?subject=oidc:google:sub:ada"), "end of": s.Get("/settings/end-access?" + url.Values{"subject": {text}}.Encode()),
			"namespaces": s.Get("/settings/namespaces"), "namespace": s.Get("/namespaces/other/settings"), "view only": ada.Get("/namespaces/other/settings"),
			"delete namespace": s.Get("/namespaces/other/delete"), "profile": ada.Get("/settings/profile"), "sessions": ada.Get("/settings/sessions"),
			"new token": s.Post("/settings/new-token", form), "created": s.Post("/settings/new-token", with(form, "role", "viewer", "namespaces", "default", "expires", "30")),
			"new binding": s.Post("/settings/new-binding", form), "appearance": s.Post("/settings/profile", form),
			"save": s.Post("/namespaces/other/settings", with(form, "color", "red")), "typed": s.Post("/namespaces/other/delete", form),
			"webhooks": s.Get("/settings/webhooks"), "webhook": s.Get(webhook), "delete webhook": s.Get(webhook + "/delete"), "webhook records": s.Get("/settings/records?kind=webhook"),
			"new webhook": s.Post("/settings/new-webhook", form), "save webhook": s.Post(webhook, without(form, "base", "do", "save")),
			"changed webhook": s.Post(webhook, with(form, "do", "save")), "rotate": s.Post(webhook, without(form, "base", "do", "rotate")), "replay": s.Post(webhook, without(form, "base", "do", "replay")),
			"new namespace": s.Post("/settings/new-namespace", with(form, "color", "red", "do", "save")),
		}
		got := make(map[string]string)
		for name, r := range pages {
			r.Check(r.Status)
			got[name] = skeleton(r)
			if r.Status >= 500 {
				t.Errorf("%s with %q: got %d", name, text, r.Status)
			}
		}
		if i == 0 {
			want = got
			continue
		}
		for name := range pages {
			if name == "new namespace" || name == "new webhook" || name == "save webhook" || name == "new token" || name == "new binding" {
				continue // how many mistakes there are depends on the text
			}
			if got[name] != want[name] {
				t.Errorf("%s with %q: the page is made of\n%s\nnot of\n%s", name, text, got[name], want[name])
			}
		}
	}
}
