package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// hostile returns strings that must be text wherever they are shown: each of
// [webtest.HostileTexts] alone, and within others, which may end what comes before it.
func hostile() (all []string) {
	for _, text := range webtest.HostileTexts() {
		all = append(all, text, `"`+text, "'>"+text, "/"+text, "a"+text+"b", "\u202e"+text)
	}
	return all
}

// TestHostile: whatever somebody else has chosen, a page consists of the same elements and
// leads to the same places.
func TestHostile(t *testing.T) {
	s := newServer(t, setup{tokens: true})
	session, form := s.session("deploy"), with(grant(), "decision", "allow")
	pasting := grant("port", "-", "state", "-")
	pages := []struct {
		name string
		get  func(text string) reply
		kind []string // texts that are not hostile, of which one has the same elements
	}{
		{"return_to", func(text string) reply { return s.get("/sign-in?"+url.Values{"return_to": {text}}.Encode(), "") }, []string{"/flags", ""}},
		{"return_to with a token", func(text string) reply {
			return s.post("/sign-in", "", url.Values{"token": {"wrong"}, "return_to": {text}})
		}, []string{"/flags", ""}},
		{"return_to, signed in", func(text string) reply {
			return s.get("/sign-in?"+url.Values{"return_to": {text}}.Encode(), session)
		}, []string{"/flags", ""}},
		{"token", func(text string) reply { return s.post("/sign-in", "", url.Values{"token": {text}}) }, []string{"wrong"}},
		{"machine", func(text string) reply { return s.get("/sign-in/cli?"+grant("name", text).Encode(), session) }, []string{"laptop", ""}},
		{"machine, with the code", func(text string) reply {
			return s.post("/sign-in/cli", session, with(with(pasting, "name", text), "decision", "allow"))
		}, []string{"laptop", ""}},
		{"port", func(text string) reply { return s.get("/sign-in/cli?"+grant("port", text).Encode(), session) }, []string{"x"}},
		{"challenge", func(text string) reply { return s.get("/sign-in/cli?"+grant("challenge", text).Encode(), session) }, []string{"x"}},
		{"state", func(text string) reply { return s.get("/sign-in/cli?"+grant("state", text).Encode(), session) }, []string{"<", "x"}},
		{"decision", func(text string) reply { return s.post("/sign-in/cli", session, with(grant(), "decision", text)) }, []string{"x"}},
		{"code", func(text string) reply {
			s.setup.code = text
			return s.post("/sign-in/cli", session, with(pasting, "decision", "allow"))
		}, []string{"code"}},
		{"provider", func(text string) reply {
			s.setup.providers = map[string]string{text: ""}
			return s.get("/sign-in", "")
		}, []string{"google"}},
		{"display name", func(text string) reply {
			s.setup.providers = map[string]string{"google": text, "other": "a" + text}
			return s.get("/sign-in", "")
		}, []string{"Google"}},
		{"code host", func(text string) reply {
			s.setup.providers, s.setup.codehost = nil, codehost(text, text)
			return s.get("/sign-in", "")
		}, []string{"GitHub"}},
		{"request id", func(text string) reply { return s.do("GET", "/sign-in/x", "", "X-Request-Id", text) }, []string{"x"}},
		{"cookie", func(text string) reply {
			s.setup.codehost = nil
			return s.get("/sign-in", text)
		}, []string{"x"}},
	}
	for _, page := range pages {
		t.Run(page.name, func(t *testing.T) {
			shapes := make(map[string]bool)
			for _, text := range page.kind {
				shapes[parse(t, page.get(text).body).skeleton()] = true
			}
			for _, text := range hostile() {
				r := page.get(text)
				checkHeaders(t, r)
				d := parse(t, r.body)
				d.check(t, "")
				if r.status != http.StatusSeeOther && !shapes[d.skeleton()] {
					t.Errorf("%q: the page is %s", text, r.body)
				}
				if t.Failed() {
					t.Fatalf("with %q", text)
				}
			}
		})
	}
	t.Run("redirects", func(t *testing.T) {
		token := s.token(service.TokenInput{})
		for _, text := range hostile() {
			s.setup.code = text
			signedIn := s.post("/sign-in", "", url.Values{"token": {token}, "return_to": {text}})
			signedOut := s.post("/sign-in/out", "", url.Values{"return_to": {text}})
			away := s.get("/sign-in/cli?"+grant("name", text).Encode(), "")
			allowed := s.post("/sign-in/cli", session, form)
			for _, r := range []reply{signedIn, signedOut, away, allowed} {
				checkHeaders(t, r)
				if r.status != http.StatusSeeOther {
					t.Errorf("%q: got %d %s", text, r.status, r.body)
				}
			}
			if err := loginstate.CheckReturnTo(signedIn.header.Get("Location")); err != nil {
				t.Errorf("%q leads to %q", text, signedIn.header.Get("Location"))
			}
			u, err := url.Parse(allowed.header.Get("Location"))
			if err != nil || u.Host != "127.0.0.1:49152" || u.Path != "/callback" || u.Query().Get("code") != text || u.Query().Get("state") != "state-1._~" || len(u.Query()) != 2 {
				t.Errorf("the code %q leads to %v, error %v", text, u, err)
			}
		}
	})
	t.Run("names", func(t *testing.T) {
		shape := parse(t, s.get("/sign-in", session).body).skeleton()
		for _, text := range hostile() {
			token, _, err := s.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: text})
			if err != nil {
				continue // no such name can be given
			}
			session := s.post("/sign-in", "", url.Values{"token": {token}}).cookies()[sessionCookie]
			for _, r := range []reply{s.get("/sign-in", session), s.get("/sign-in/cli?"+grant().Encode(), session)} {
				d := parse(t, r.body)
				d.check(t, "")
				if strings.HasPrefix(d.text(), "You are") && d.skeleton() != shape {
					t.Errorf("%q: the page is %s", text, r.body)
				}
			}
		}
	})
	t.Run("addresses of a provider", func(t *testing.T) {
		s := newServer(t, setup{tokens: true}) // without all the others' sessions
		form := url.Values{"token": {s.token(service.TokenInput{})}}
		for _, text := range hostile() {
			s.setup.nextURI = text
			r := s.post("/sign-in/out", s.post("/sign-in", "", form).cookies()[sessionCookie], nil)
			checkHeaders(t, r)
			if refresh := r.header.Get("Refresh"); refresh != "" && !strings.HasPrefix(refresh, "0; url=https://") {
				t.Errorf("%q: Refresh %q", text, refresh)
			}
			if r.status == http.StatusOK {
				parse(t, r.body).check(t, "", strings.TrimPrefix(r.header.Get("Refresh"), "0; url="))
			}
		}
	})
}

// checkHeaders checks that no header is made of more than it should be.
func checkHeaders(t *testing.T, r reply) {
	t.Helper()
	for name, values := range r.header {
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n\x00") {
				t.Errorf("the header %s is %q", name, value)
			}
		}
	}
	if location := r.header.Get("Location"); location != "" {
		ours := strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "//") && !strings.HasPrefix(location, `/\`)
		if !ours && !strings.HasPrefix(location, "http://127.0.0.1:49152/callback?") {
			t.Errorf("leads to %q", location)
		}
	}
	for name := range r.cookies() {
		if name != sessionCookie && name != "service_client_state" {
			t.Errorf("sets the cookie %s", name)
		}
	}
	if r.status == 0 || r.status == http.StatusInternalServerError {
		t.Errorf("got %d %s", r.status, r.body)
	}
}
