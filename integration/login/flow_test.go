package login

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// place is where a service is reached, and the attributes of cookies that follow.
type place struct {
	name, public          string
	settings              []string
	sessionName, loginOne string // names of cookies
	session, login        string // attributes
}

var places = []place{
	{
		"https with a path", "https://flags.example/base", nil, sessionCookie, loginCookies,
		"Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax", "Path=/base/auth/v1/method/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	},
	{
		"http on loopback", "http://127.0.0.1:8080", []string{"AUTHENTICATION_SESSION_TOKEN_LIFETIME=2h", "AUTHENTICATION_SESSION_STATE_LIFETIME=5m"}, sessionCookie, loginCookies,
		"Path=/; Max-Age=7200; HttpOnly; SameSite=Lax", "Path=/auth/v1/method/; Max-Age=300; HttpOnly; SameSite=Lax",
	},
	{
		"a domain", "https://flags.corp.example", []string{"AUTHENTICATION_SESSION_DOMAIN=corp.example"}, sessionCookie, loginCookies,
		"Path=/; Domain=corp.example; Max-Age=86400; HttpOnly; Secure; SameSite=Lax", "Path=/auth/v1/method/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	},
	{
		"a host prefix", "https://flags.example/base", []string{"AUTHENTICATION_SESSION_HOST_PREFIX=true"}, "__Host-" + sessionCookie, "__Host-" + loginCookies,
		"Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax", "Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	},
	{
		"not secure", "http://flags.example", []string{"AUTHENTICATION_SESSION_SECURE=false"}, sessionCookie, loginCookies,
		"Path=/; Max-Age=86400; HttpOnly; SameSite=Lax", "Path=/auth/v1/method/; Max-Age=600; HttpOnly; SameSite=Lax",
	},
}

// TestFlow signs in at services in several places and checks everything that a browser sees.
func TestFlow(t *testing.T) {
	for _, at := range places {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, "google")
			s := start(t, slices.Concat(p.settings("DISPLAY_NAME=Google it", "AUTHORIZE_PARAMS_PROMPT=select_account"), at.settings, []string{"SERVER_PUBLIC_URL=" + at.public})...)
			s.secrets.personal("google.ada@corp.example")
			flow(t, s, p, at)
		})
	}
}

func flow(t *testing.T, s *service, p *provider, at place) {
	b := s.browser(t)
	begun := b.get(loginPath("google", "authorize") + "?return_to=%2Fflags%3Fq%3D1%26r%3D%252B&state=chosen-by-the-page")
	checkStep(t, begun, http.StatusOK)
	var answer map[string]string
	if err := json.Unmarshal([]byte(begun.body), &answer); err != nil || len(answer) != 1 {
		t.Fatalf("authorize: %v, %s", err, begun.body)
	}
	u, err := url.Parse(answer["authorizeUrl"])
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	s.secrets.plant(q.Get("state"), q.Get("nonce"))
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(q.Get(name)) != 43 || strings.Contains(u.String(), "chosen-by-the-page") {
			t.Errorf("%s %q in %s: want 43 characters", name, q.Get(name), u)
		}
		q.Del(name)
	}
	want := url.Values{
		"response_type": {"code"}, "client_id": {"guidon"}, "scope": {"openid profile email"}, "code_challenge_method": {"S256"},
		"redirect_uri": {at.public + "/auth/v1/method/oidc/google/callback"}, "prompt": {"select_account"},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	checkCookies(t, begun, at.loginOne+": "+at.login)
	if n := len(begun.Cookies()[0].Name); n != len(at.loginOne)+12 {
		t.Errorf("name %q, want 12 characters after the prefix", begun.Cookies()[0].Name)
	}

	ended := b.callback("google", b.agree(p, u.String()))
	s.secrets.plant(p.verifiers...)
	checkStep(t, ended, http.StatusFound)
	if got, want := ended.Header.Get("Location"), s.public.Path+"/flags?q=1&r=%2B"; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	forgotten := strings.Replace(at.login, "Max-Age="+maxAge(at.login), "Max-Age=0", 1)
	checkCookies(t, ended, at.sessionName+": "+at.session, at.loginOne+": "+forgotten)
	checkPerson(t, b, ended, at)
	if left := b.named(at.loginOne); len(left) > 0 {
		t.Errorf("the browser still has %v", left)
	}
	b.is(map[bool]int{true: 200, false: 401}[b.session() != "" || strings.HasPrefix(at.sessionName, "__Host-")])
}

func maxAge(attributes string) string {
	_, after, _ := strings.Cut(attributes, "Max-Age=")
	age, _, _ := strings.Cut(after, ";")
	return age
}

// checkStep checks what all responses of browser steps have.
func checkStep(t *testing.T, r response, status int) {
	t.Helper()
	if r.StatusCode != status || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%s: got %d %v %s, want %d, no-store, no-referrer", r.Request.URL.Path, r.StatusCode, r.Header, r.body, status)
	}
}

// checkCookies checks the cookies that a response sets: "name: attributes" of each. The
// names of login cookies are the beginnings.
func checkCookies(t *testing.T, r response, want ...string) {
	t.Helper()
	var got []string
	for _, line := range r.Header.Values("Set-Cookie") {
		pair, attributes, _ := strings.Cut(line, "; ")
		name, _, _ := strings.Cut(pair, "=")
		if i := strings.Index(name, loginCookies); i >= 0 {
			name = name[:i+len(loginCookies)]
		}
		got = append(got, name+": "+attributes)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: cookies (-want +got):\n%s", r.Request.URL.Path, diff)
	}
}

// checkPerson checks what the callback and "self" say of the person.
func checkPerson(t *testing.T, b *browser, ended response, at place) {
	t.Helper()
	answer := decode[struct {
		ClientToken    *string
		Authentication authentication
	}](t, ended)
	if answer.ClientToken == nil || *answer.ClientToken != "" {
		t.Errorf("clientToken %v, want an empty one: %s", answer.ClientToken, ended.body)
	}
	a := answer.Authentication
	want := map[string]string{
		"io.service.auth.oidc.provider": "google", "io.service.auth.oidc.sub": "ada", "io.service.auth.oidc.email": "google.ada@corp.example",
		"io.service.auth.oidc.email_verified": "true", "io.service.auth.oidc.name": "Ada Lovelace",
		"io.service.auth.email": "google.ada@corp.example", "io.service.auth.name": "Ada Lovelace",
	}
	if diff := cmp.Diff(want, a.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if a.Method != "METHOD_OIDC" || a.ID == "" {
		t.Errorf("authentication %+v", a)
	}
	created, err := time.Parse(time.RFC3339Nano, a.CreatedAt)
	expires, err2 := time.Parse(time.RFC3339Nano, a.ExpiresAt)
	lifetime, err3 := time.ParseDuration(maxAge(at.session) + "s")
	if d := expires.Sub(created); err != nil || err2 != nil || err3 != nil || d < lifetime-2*time.Second || d > lifetime {
		t.Errorf("from %s to %s, want %v", a.CreatedAt, a.ExpiresAt, lifetime)
	}
	self := b.get("/auth/v1/self")
	got := decode[authentication](t, self)
	if got.ID != a.ID || self.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("self: %s with %v, want id %s, no-store", self.body, self.Header, a.ID)
	}
	if diff := cmp.Diff([]grant{{"viewer", []string{"*"}}}, got.Access); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}

type authentication struct {
	ID, Method, ExpiresAt, CreatedAt string
	Metadata                         map[string]string
	Access                           []grant
}

type grant struct {
	Role          string
	NamespaceKeys []string
}

// TestRedirect: with redirect=true the browser is sent to the provider.
func TestRedirect(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.browser(t)
	b.accept = "text/html,application/xhtml+xml"
	got := b.get(loginPath("google", "authorize") + "?redirect=true&return_to=/flags")
	checkStep(t, got, http.StatusFound)
	location := got.Header.Get("Location")
	if !strings.HasPrefix(location, p.URL+"/authorize?") {
		t.Fatalf("Location %q, want one of %s", location, p.URL)
	}
	s.secrets.plant(stateOf(t, location))
	checkStep(t, b.callback("google", b.agree(p, location)), http.StatusFound)
	b.is(http.StatusOK)
	for query, want := range map[string]int{"?redirect=false": 200, "?redirect=1": 200, "?redirect=": 200, "?redirect=nonsense": 400} {
		if got := b.get(loginPath("google", "authorize") + query); got.StatusCode != want && got.StatusCode != http.StatusFound && got.StatusCode != 400 {
			t.Errorf("%s: got %d %s", query, got.StatusCode, got.body)
		}
	}
}

// TestMethods: the list of methods names what clients need, below the public path.
func TestMethods(t *testing.T) {
	t.Parallel()
	p, host := newProvider(t, "google"), logintest.NewCodeHost(t, "gitea")
	s := start(t, slices.Concat(p.settings("DISPLAY_NAME=Google it"), codehostSettings(host, "ALLOW_EVERYONE=true"))...)
	got := s.status(t, 200, "GET", "/auth/v1/method", "")
	answer := decode[struct {
		Methods []struct {
			Method            string
			Enabled           bool
			SessionCompatible bool
			Metadata          any
		}
	}](t, got)
	var names []string
	enabled := map[string]bool{}
	for _, m := range answer.Methods {
		names = append(names, m.Method)
		enabled[m.Method] = m.Enabled
		switch m.Method {
		case "METHOD_OIDC":
			want := map[string]any{"providers": map[string]any{"google": map[string]any{
				"authorize_url": "/base/auth/v1/method/oidc/google/authorize", "callback_url": "/base/auth/v1/method/oidc/google/callback", "display_name": "Google it",
			}}}
			if diff := cmp.Diff(any(want), m.Metadata); diff != "" {
				t.Errorf("OIDC (-want +got):\n%s", diff)
			}
		case "METHOD_GITHUB":
			want := map[string]any{
				"authorize_url": "/base/auth/v1/method/codehost/authorize", "callback_url": "/base/auth/v1/method/codehost/callback",
				"display_name": "Gitea", "type": "gitea",
			}
			if diff := cmp.Diff(any(want), m.Metadata); diff != "" {
				t.Errorf("code host (-want +got):\n%s", diff)
			}
		}
	}
	t.Logf("methods %v %v: %s", names, enabled, got.body)
	if len(names) != 5 || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("methods %v, headers %v; want five and no-store", names, got.Header)
	}
}
