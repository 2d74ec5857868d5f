package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/service"
)

// policy is the Content-Security-Policy of pages, with what forms may lead to.
func policy(formAction string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action " + formAction +
		"; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// everyPage returns a response of every kind, by name, under a server with all ways to
// sign in.
func everyPage(s *server) map[string]reply {
	session, form := s.session("deploy"), with(grant(), "decision", "allow")
	pasting := grant("port", "-", "state", "-")
	pages := map[string]reply{
		"sign in":                s.get("/sign-in?return_to=/flags", ""),
		"wrong token":            s.post("/sign-in", "", url.Values{"token": {"wrong"}}),
		"signed in with a token": s.post("/sign-in", "", url.Values{"token": {s.token(service.TokenInput{})}}),
		"signed in":              s.get("/sign-in?return_to=/flags", session),
		"ask":                    s.get("/sign-in/cli?"+grant().Encode(), session),
		"ask, for pasting":       s.get("/sign-in/cli?"+pasting.Encode(), session),
		"ask, signed out":        s.get("/sign-in/cli?"+grant().Encode(), ""),
		"allowed":                s.post("/sign-in/cli", session, form),
		"allowed, for pasting":   s.post("/sign-in/cli", session, with(pasting, "decision", "allow")),
		"denied, for pasting":    s.post("/sign-in/cli", session, with(pasting, "decision", "deny")),
		"error: bad request":     s.get("/sign-in/cli", session),
		"error: no page":         s.get("/sign-in/elsewhere", session),
		"error: no asset":        s.get("/assets/0/guidon.css", ""),
		"error: no form here":    s.get("/sign-in/out", session),
		"error: cross-origin":    s.do("POST", "/sign-in", "token=a", "Sec-Fetch-Site", "cross-site"),
		"error: unknown method":  s.do("DELETE", "/sign-in", ""),
		"error: of a step":       s.get("/auth/v1/method/state/callback?code=secret", session),
	}
	pages["signed out"] = s.post("/sign-in/out", session, nil)
	return pages
}

// TestHeaders: every response has the headers of a page. Errors keep the address of the
// request from the next one, and the page with the form for the command line lets it lead
// there.
func TestHeaders(t *testing.T) {
	s := newServer(t, setup{tokens: true, providers: map[string]string{"google": "Google"}, code: "code", nextURI: "https://id.example/"})
	for name, r := range everyPage(s) {
		want := map[string]string{
			"Content-Security-Policy": policy("'self'"), "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy": "clipboard-write=(self), camera=(), microphone=(), geolocation=()", "Cache-Control": "no-store",
		}
		switch {
		case name == "ask":
			want["Content-Security-Policy"] = policy("'self' http://127.0.0.1:49152")
		case strings.HasPrefix(name, "error"):
			want["Referrer-Policy"] = "no-referrer"
		}
		for header, value := range want {
			if diff := cmp.Diff([]string{value}, r.header[header]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, header, diff)
			}
		}
		if r.status == http.StatusSeeOther {
			if r.body != "" {
				t.Errorf("%s: a redirect has the body %s", name, r.body)
			}
			continue
		}
		if got := r.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
			t.Errorf("%s: Content-Type %q", name, got)
		}
		parse(t, r.body).check(t, "", "https://id.example/")
		if strings.Contains(r.body, "secret") {
			t.Errorf("%s: repeats the query: %s", name, r.body)
		}
	}
}

// TestPublicPath: below a path prefix, all addresses are below it.
func TestPublicPath(t *testing.T) {
	s := newServer(t, setup{tokens: true, publicPath: "/a/b-c.d", providers: map[string]string{"google": "Google"}, codehost: codehost("GitHub", "github"), code: "code"})
	for name, r := range everyPage(s) {
		if location := r.header.Get("Location"); location != "" {
			if !strings.HasPrefix(location, "/a/b-c.d/sign-in") && name != "allowed" {
				t.Errorf("%s: leads to %s", name, location)
			}
			continue
		}
		parse(t, r.body).check(t, "/a/b-c.d")
	}
	r := s.get("/sign-in?return_to=/flags", s.session("deploy"))
	if got, want := parse(t, r.body).links(), []string{"/a/b-c.d/flags"}; !cmp.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
	r = s.post("/sign-in", "", url.Values{"token": {s.token(service.TokenInput{})}, "return_to": {"/flags"}})
	if got, want := r.header.Get("Location"), "/a/b-c.d/flags"; got != want {
		t.Errorf("signing in leads to %q, want %q", got, want)
	}
}

// TestMethods: requests that no page takes are refused with the methods that pages take.
func TestMethods(t *testing.T) {
	s := newServer(t, setup{})
	for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
		if r := s.do(method, "/sign-in", ""); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: got %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
}

// TestAssets: what pages refer to is there, and may be kept for ever, because another
// content has another address.
func TestAssets(t *testing.T) {
	s := newServer(t, setup{})
	d := parse(t, s.get("/sign-in", "").body)
	types := make(map[string]string)
	for _, n := range slices.Concat(d.all("link"), d.all("img")) {
		address := attribute(n, "href") + attribute(n, "src")
		if strings.HasPrefix(address, "#") {
			continue // a part of the page itself
		}
		for _, method := range []string{"GET", "HEAD"} {
			r := s.do(method, address, "")
			if r.status != http.StatusOK || len(r.body) < 100 || r.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || r.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: got %d %v %q", method, address, r.status, r.header, r.body)
			}
			types[r.header.Get("Content-Type")] = address
		}
		if r := s.do("POST", address, ""); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: got %d", address, r.status)
		}
	}
	if len(types) != 2 || types["text/css; charset=utf-8"] == "" || types["image/svg+xml"] == "" {
		t.Errorf("types %v", types)
	}
	style := s.get(types["text/css; charset=utf-8"], "").body
	for _, never := range []string{"@import", "url(", "http:", "https:", "data:"} {
		if strings.Contains(style, never) {
			t.Errorf("the style has %s", never)
		}
	}
	for _, address := range []string{
		"/assets", "/assets/", "/assets/guidon.css", "/assets/0000000000000000/guidon.css", types["text/css; charset=utf-8"] + "/x",
		strings.Replace(types["text/css; charset=utf-8"], "guidon.css", "icon.css", 1), "/assets/../assets.go", "/assets//guidon.css",
	} {
		if r := s.get(address, ""); r.status != http.StatusNotFound || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %v", address, r.status, r.header)
		}
	}
}

// TestCrossOrigin: a form of another origin does nothing, with or without a session.
func TestCrossOrigin(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	token := s.token(service.TokenInput{})
	forms := map[string]url.Values{"/sign-in": {"token": {token}}, "/sign-in/out": {}, "/sign-in/cli": with(grant(), "decision", "allow")}
	for _, test := range []struct {
		name    string
		headers []string
		allowed bool
	}{
		{"our page", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"the visitor", []string{"Sec-Fetch-Site", "none"}, true},
		{"another site", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"a sibling domain", []string{"Sec-Fetch-Site", "same-site"}, false},
		{"our page in an old browser", []string{"Origin", "http://flags.test"}, true},
		{"another site in an old browser", []string{"Origin", "http://evil.example"}, false},
		{"a page without an origin", []string{"Origin", "null"}, false},
		{"no browser", nil, true},
		{"another site, with the credential of a proxy", []string{"Sec-Fetch-Site", "cross-site", "Authorization", "Negotiate YTpi"}, false},
		{"a sibling domain, with an empty one", []string{"Sec-Fetch-Site", "same-site", "Authorization", ""}, false},
		{"another site, with a token", []string{"Sec-Fetch-Site", "cross-site", "Authorization", "Bearer " + token, "X-API-Key", token}, false},
		{"our page behind a proxy", []string{"Sec-Fetch-Site", "same-origin", "Authorization", "Basic YTpi"}, true},
	} {
		for path, form := range forms {
			for _, session := range []string{s.session("deploy"), ""} {
				headers := slices.Concat(cookie(session), test.headers, []string{"Content-Type", "application/x-www-form-urlencoded"})
				before := len(s.grants)
				r := s.do("POST", path, form.Encode(), headers...)
				if test.allowed {
					if r.status != http.StatusSeeOther {
						t.Errorf("%s, %s: got %d %s", test.name, path, r.status, r.body)
					}
					continue
				}
				d := parse(t, r.body)
				if r.status != http.StatusForbidden || !strings.HasPrefix(d.text(), "This request was refused") || len(r.header["Set-Cookie"]) > 0 || len(s.grants) > before {
					t.Errorf("%s, %s: got %d %v %s", test.name, path, r.status, r.header, d.text())
				}
				if session != "" && !strings.HasPrefix(parse(t, s.get("/sign-in", session).body).text(), "You are signed in") {
					t.Errorf("%s, %s: signed out", test.name, path)
				}
			}
		}
	}
}

// TestForms: what is no form of ours is refused, and never repeated.
func TestForms(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session := s.session("deploy")
	for _, test := range []struct {
		name, media, body string
		status            int
	}{
		{"JSON", "application/json", `{"token":"secret"}`, 400},
		{"multipart", "multipart/form-data; boundary=x", "secret", 400},
		{"text", "text/plain", "token=secret", 400},
		{"no type", "", "token=secret", 400},
		{"malformed", "application/x-www-form-urlencoded", "token=secret%zz", 400},
		{"semicolons", "application/x-www-form-urlencoded", "token=secret;a=b", 400},
		{"too large", "application/x-www-form-urlencoded", "token=secret" + strings.Repeat("x", 16<<10), 413},
	} {
		for _, path := range []string{"/sign-in", "/sign-in/out", "/sign-in/cli"} {
			r := s.do("POST", path, test.body, append(cookie(session), "Content-Type", test.media)...)
			parse(t, r.body).check(t, "")
			if r.status != test.status || strings.Contains(r.body, "secret") {
				t.Errorf("%s, %s: got %d %s", test.name, path, r.status, r.body)
			}
		}
	}
	if strings.Contains(s.log.String(), "secret") {
		t.Errorf("the log has a token:\n%s", s.log.String())
	}
	if d := parse(t, s.get("/sign-in", session).body); !strings.HasPrefix(d.text(), "You are signed in") {
		t.Errorf("then: %s", d.text())
	}
}

// TestErrorPage: there are words for each reason, and for each status without one. The
// page has the request id, and a link to begin anew.
func TestErrorPage(t *testing.T) {
	for _, test := range []struct {
		status       int
		reason, want string
	}{
		{401, auth.ReasonState, "This sign-in cannot be completed It took too long, was completed before, or began in another browser. Begin again."},
		{401, auth.ReasonDenied, "You are not signed in The provider did not complete the sign-in, or it was canceled there. Begin again, or choose another way to sign in."},
		{401, auth.ReasonInvalid, "You are not signed in The provider did not confirm who you are. Begin again. If that does not help, tell an administrator the request id."},
		{403, auth.ReasonNotAdmitted, "You have no access to this server The provider confirmed who you are, but you were not given access here. Ask an administrator, and tell them the request id."},
		{500, auth.ReasonMisconfigured, "This way to sign in is not set up correctly The provider does not accept this server. Tell an administrator the request id: the server’s log says more."},
		{429, auth.ReasonLimited, "Too many failed attempts Wait a moment, then try again."},
		{503, auth.ReasonUnavailable, "The provider cannot be reached Reload this page in a moment, or choose another way to sign in."},
		{400, "", "This request is not complete The address or the form has a part that is missing, too long or changed."},
		{401, "", "You are not signed in Sign in, then try again."},
		{403, "", "This request was refused It came from a page of another site, needs more rights than you have, or used an address that this server does not answer to."},
		{404, "", "There is no such page The address may have a typing error, or the page is not part of this server."},
		{405, "", "There is no such page This address does not take requests of this kind."},
		{413, "", "This form is too large No form on these pages needs that much. Check what you have pasted."},
		{429, "", "Too many failed attempts Wait a moment, then try again."},
		{503, "", "The server cannot answer now Try again in a moment."},
		{500, "", "Something went wrong Try again. If that does not help, tell an administrator the request id: the server’s log says more."},
		{499, "no such reason", "Something went wrong Try again. If that does not help, tell an administrator the request id: the server’s log says more."},
	} {
		s := newServer(t, setup{publicPath: "/base"})
		mount := exchange.Mount{Prefixes: []string{"/x"}, Error: func(*exchange.Exchange, error) {},
			Serve: func(x *exchange.Exchange) { s.site.ErrorPage(x, test.status, test.reason) }}
		s.router = exchange.NewRouter(nil, nil, []exchange.Mount{mount}, exchange.Config{Invoker: s.invoker})
		r := s.do("GET", "/x?code=secret", "", "X-Request-Id", "the-id")
		d := parse(t, r.body)
		d.check(t, "/base")
		if want := test.want + " Go to the sign-in page Request id the-id"; r.status != test.status || d.text() != want {
			t.Errorf("%d %s: got %d %q, want %q", test.status, test.reason, r.status, d.text(), want)
		}
		if !cmp.Equal(d.links(), []string{"/base/sign-in"}) || r.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%d %s: links %v, headers %v", test.status, test.reason, d.links(), r.header)
		}
	}
}

// TestErrorOfStep: an operation can respond with the page. A failed step leaves the session
// of the browser alone.
func TestErrorOfStep(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session := s.session("deploy")
	r := s.get("/auth/v1/method/state/callback?code=secret&state=x", session)
	d := parse(t, r.body)
	d.check(t, "")
	if r.status != http.StatusUnauthorized || !strings.HasPrefix(d.text(), "This sign-in cannot be completed") || len(r.header["Set-Cookie"]) > 0 {
		t.Errorf("got %d %v %s", r.status, r.header, d.text())
	}
	if !strings.Contains(s.log.String(), "the attempt is broken") {
		t.Errorf("the log does not say why:\n%s", s.log.String())
	}
}

// TestNew: a configuration that is not valid is refused at the start, and so is a table
// without an operation that every page needs.
func TestNew(t *testing.T) {
	allowed := func(string) error { return nil }
	for _, path := range []string{"/", "/a/", "a", "//a", "/a//b", "/a b", "/a?b", "/ä", "/a#b", "https://flags.example/a", "/a/\n"} {
		if got := panicOf(func() { web.New(page.Config{PublicPath: path, CheckReturnTo: allowed}) }); !strings.Contains(got, "invalid PublicPath") {
			t.Errorf("%q: panics with %q", path, got)
		}
	}
	if got := panicOf(func() { web.New(page.Config{}) }); !strings.Contains(got, "CheckReturnTo is required") {
		t.Errorf("without CheckReturnTo: panics with %q", got)
	}
	rows := newServer(t, setup{}).rows()
	for i, row := range rows {
		if strings.HasPrefix(row.Name, "/test.") || strings.HasSuffix(row.Name, "/CreateGrant") {
			continue
		}
		got := panicOf(func() {
			web.New(page.Config{CheckReturnTo: allowed}).Mount(slices.Delete(slices.Clone(rows), i, i+1))
		})
		if got != "page: there is no operation "+row.Name {
			t.Errorf("without %s: panics with %q", row.Name, got)
		}
	}
}

func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}
