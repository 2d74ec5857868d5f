package login

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// browser keeps cookies as browsers do, sends those that belong to a path, and follows no
// redirect by itself. Its requests reach the service below the path of the public URL, which
// a proxy removes.
type browser struct {
	t       *testing.T
	service *service
	cookies []*http.Cookie
	accept  string
	headers []string // of all its requests
}

func (s *service) browser(t *testing.T) *browser { return &browser{t: t, service: s} }

// get opens a path below the public URL.
func (b *browser) get(path string, headers ...string) response {
	b.t.Helper()
	return b.send(http.MethodGet, path, "", headers...)
}

func (b *browser) send(method, path, body string, headers ...string) response {
	b.t.Helper()
	headers = append(slices.Clone(b.headers), headers...)
	if b.accept != "" {
		headers = append(headers, "Accept: "+b.accept)
	}
	if line := b.cookieLine(path); line != "" {
		headers = append(headers, "Cookie: "+line)
	}
	got := b.service.send(b.t, method, path, body, headers...)
	b.take(got)
	return got
}

// cookieLine returns the header Cookie for the path.
func (b *browser) cookieLine(path string) string {
	target, _, _ := strings.Cut(b.service.public.Path+path, "?")
	var pairs []string
	for _, c := range b.cookies {
		if below(target, c.Path) {
			pairs = append(pairs, c.Name+"="+c.Value)
		}
	}
	return strings.Join(pairs, "; ")
}

// below reports whether the path of a request matches that of a cookie (RFC 6265 5.1.4).
func below(path, of string) bool {
	return path == of || strings.HasPrefix(path, of) && (strings.HasSuffix(of, "/") || path[len(of)] == '/')
}

// take keeps the cookies of a response.
func (b *browser) take(r response) {
	for _, c := range r.Cookies() {
		b.cookies = slices.DeleteFunc(b.cookies, func(old *http.Cookie) bool { return old.Name == c.Name && old.Path == c.Path })
		b.service.secrets.plant(c.Value)
		if c.MaxAge >= 0 {
			b.cookies = append(b.cookies, c)
		}
	}
}

// named returns the cookies whose names begin so.
func (b *browser) named(prefix string) []*http.Cookie {
	var all []*http.Cookie
	for _, c := range b.cookies {
		if strings.HasPrefix(c.Name, prefix) {
			all = append(all, c)
		}
	}
	return all
}

// The names of cookies.
const (
	sessionCookie = "service_client_token"
	loginCookies  = "service_client_state_"
)

// session returns the token of the session, or "".
func (b *browser) session() string {
	for _, c := range b.named(sessionCookie) {
		return c.Value
	}
	return ""
}

// loginPath returns the path of a method, which is "codehost" or a provider.
func loginPath(provider, step string) string {
	if provider == "codehost" {
		return "/auth/v1/method/codehost/" + step
	}
	return "/auth/v1/method/oidc/" + provider + "/" + step
}

// begin begins an attempt and returns the URL at the provider.
func (b *browser) begin(provider, query string) string {
	b.t.Helper()
	got := b.get(loginPath(provider, "authorize") + query)
	if got.StatusCode != http.StatusOK {
		b.t.Fatalf("authorize %s%s: %d %s", provider, query, got.StatusCode, got.body)
	}
	answer := decode[struct{ AuthorizeURL string }](b.t, got)
	u, err := url.Parse(answer.AuthorizeURL)
	if err != nil {
		b.t.Fatal(err)
	}
	q := u.Query()
	b.service.secrets.plant(q.Get("state"), q.Get("nonce"))
	return answer.AuthorizeURL
}

// agreer is a provider at which a person agrees to sign in.
type agreer interface {
	Authorize(authorizeURL string) (code string, err error)
}

// agree signs in at the provider, and returns the query of the callback.
func (b *browser) agree(at agreer, authorizeURL string) url.Values {
	b.t.Helper()
	code, err := at.Authorize(authorizeURL)
	if err != nil {
		b.t.Fatal(err)
	}
	return url.Values{"code": {code}, "state": {stateOf(b.t, authorizeURL)}}
}

func queryOf(t testing.TB, raw string) url.Values {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func stateOf(t testing.TB, authorizeURL string) string {
	t.Helper()
	return queryOf(t, authorizeURL).Get("state")
}

// attempt is begin and agree.
func (b *browser) attempt(p *provider) url.Values {
	b.t.Helper()
	b.service.secrets.personal(p.name + ".ada@corp.example")
	return b.agree(p, b.begin(p.name, ""))
}

// callback comes back from the provider.
func (b *browser) callback(provider string, query url.Values) response {
	b.t.Helper()
	return b.get(loginPath(provider, "callback") + "?" + query.Encode())
}

// signIn signs in and checks that it succeeds.
func (b *browser) signIn(p *provider) response {
	b.t.Helper()
	got := b.callback(p.name, b.attempt(p))
	if got.StatusCode != http.StatusFound || b.session() == "" {
		b.t.Fatalf("callback: got %d %s, want 302 and a session", got.StatusCode, got.body)
	}
	return got
}

// signedIn returns a browser with a session of the person.
func (s *service) signedIn(t *testing.T, p *provider, claims map[string]any) *browser {
	t.Helper()
	b := s.browser(t)
	p.as(claims)
	b.signIn(p)
	return b
}

// is checks whether the browser has a session that works.
func (b *browser) is(want int) {
	b.t.Helper()
	if got := b.get("/auth/v1/self"); got.StatusCode != want {
		b.t.Errorf("self: got %d %s, want %d", got.StatusCode, got.body, want)
	}
}
