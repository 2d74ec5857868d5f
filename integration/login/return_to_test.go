package login

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestReturnTo: the browser ends where return_to says if that is a path of the service.
// Anything else is refused, and no attempt begins.
func TestReturnTo(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	for _, path := range []string{
		"/", "/flags", "/flags/", "/ui/namespaces/default/flags/a-b_c.d~e", "/flags?x=1&y=2", "/flags?return=/flags", "/flags?", "/a:b", "/@me", "/a;b=c", "/authors",
		"/flags/%C3%A9", "/flags/a%20b", "/flags?q=%23", "/...", "/a..b", "/.well-known", "/auth-x", "/api/v1/flags", "/!$&'()*+,=", "/" + strings.Repeat("a", 511),
	} {
		b := s.browser(t)
		got := b.callback("google", b.agree(p, b.begin("google", "?return_to="+url.QueryEscape(path))))
		if location := got.Header.Get("Location"); got.StatusCode != http.StatusFound || location != "/base"+path {
			t.Errorf("%q: got %d to %q, want 302 to %q", path, got.StatusCode, location, "/base"+path)
		}
	}
	b := s.browser(t)
	got := b.callback("google", b.agree(p, b.begin("google", "")))
	if location := got.Header.Get("Location"); location != "/base/" {
		t.Errorf("without return_to: Location %q, want /base/", location)
	}

	for _, path := range hostilePaths() {
		for _, redirect := range []string{"", "&redirect=true"} {
			b := s.browser(t)
			got := b.get(loginPath("google", "authorize") + "?return_to=" + url.QueryEscape(path) + redirect)
			if got.StatusCode != http.StatusBadRequest || len(got.Header.Values("Set-Cookie")) > 0 || got.Header.Get("Location") != "" {
				t.Errorf("%q: got %d %v, want 400 and no attempt", path, got.StatusCode, got.Header)
			}
			if strings.Contains(got.body, "evil") {
				t.Errorf("%q: the response repeats it: %s", path, got.body)
			}
		}
	}
}

// hostilePaths are values of return_to that lead elsewhere in some browser, proxy or parser.
func hostilePaths() []string {
	paths := []string{
		"https://evil.example", "http://evil.example/", "//evil.example", "///evil.example", "////evil.example", "/\\evil.example", "\\\\evil.example", "\\/evil.example",
		"/\\/evil.example", "//\\evil.example", "evil.example", "evil", "./evil", "../evil", "https:evil.example", "https:/evil.example", "https:\\evil.example",
		"javascript:alert(1)//evil", "data:text/html,evil", "vbscript:evil", "mailto:evil@evil.example", "//evil.example/..;/", "//user@evil.example", "@evil.example",
		":80/evil", "?evil", "#evil", "/#evil", "/flags#evil", "/flags?x#evil",
		"/%2fevil.example", "/%2Fevil.example", "/%5cevil.example", "/%5Cevil.example", "/a%2Fevil", "/a%5Cevil", "/flags?q=%2Fevil", "/flags?q=%5Cevil",
		"/%0d%0aLocation:%20evil", "/evil%0d", "/evil%0a", "/evil%00", "/evil%09", "/evil%7f", "/evil?x=%0d%0aSet-Cookie:evil=1", "/evil%1b", "/evil%c2%85", "/evil%c2%80",
		"/./evil", "/../evil", "/a/../evil", "/a/./evil", "/evil/..", "/evil/.", "/%2e/evil", "/%2e%2e/evil", "/.%2e/evil", "/%2E./evil", "/evil/%2e%2e", "/evil/%2E",
		"/evil\\", "/evil\\..\\", "/evil b", " /evil", "/evil ", "\t/evil", "/\tevil", "/\t/evil.example", "/\n/evil.example", "/\r/evil.example", "/evil\n", "/evil\r\nX: y", "\x00/evil",
		"/evil\x00", "/evil\x7f", "/é-evil", "/evil\u2028", "/\u3000evil", "/\uff0fevil.example", "\uff0f\uff0fevil.example", "/\u2215evil", "/evil\xff", "\ufeff/evil",
		"/auth", "/auth/", "/auth/v1/self/revoke?evil", "/auth/v1/method/oidc/google/authorize?redirect=true&evil", "/%61uth/evil", "/a%75th/v1/self", "/auth%2fv1/evil", "/auth?evil", "/%61%75%74%68?evil",
		"/evil%", "/evil%2", "/evil%zz", "/evil%u002f", "/%", "/flags?q=%", "/flags?q=%zz-evil",
		"/evil/" + strings.Repeat("a", 512), "/" + strings.Repeat("e", 512), "http:///evil.example", "//[::1]/evil", "//[evil", "/\\\\evil.example", "/.\\evil", "/;//evil.example/%2f",
		"https://flags.example/base/evil", "//flags.example/base/evil", "flags.example/evil", "/ /evil.example", "/%20/../evil",
	}
	return append(paths, strings.Repeat("/", 3)+"evil", "/"+strings.Repeat("%2e", 2)+"/evil")
}

// TestReturnToBase: headers of proxies, which anybody can send, change neither where the
// browser goes nor its cookies.
func TestReturnToBase(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, append(p.settings(), "SERVER_TRUSTED_PROXIES=127.0.0.0/8")...)
	for _, header := range []string{
		"Host: evil.example", "X-Forwarded-Host: evil.example", "X-Forwarded-Prefix: /evil", "X-Forwarded-Proto: http", "Forwarded: host=evil.example;proto=http",
		"X-Original-URL: /evil", "X-Rewrite-URL: /evil", "X-Forwarded-Server: evil.example", "X-Forwarded-Port: 666", "X-Forwarded-For: 203.0.113.1",
	} {
		b := s.browser(t)
		b.headers = []string{header}
		begun := b.get(loginPath("google", "authorize") + "?return_to=/flags")
		if begun.StatusCode == http.StatusForbidden && strings.HasPrefix(header, "Host: ") {
			continue
		}
		u := decode[struct{ AuthorizeURL string }](t, begun).AuthorizeURL
		s.secrets.plant(stateOf(t, u))
		ended := b.callback("google", b.agree(p, u))
		if ended.StatusCode != http.StatusFound || ended.Header.Get("Location") != "/base/flags" {
			t.Errorf("%s: got %d to %q", header, ended.StatusCode, ended.Header.Get("Location"))
		}
		for _, line := range append(begun.Header.Values("Set-Cookie"), ended.Header.Values("Set-Cookie")...) {
			if strings.Contains(line, "evil") || !strings.Contains(line, "Secure") {
				t.Errorf("%s: got the cookie %s", header, line)
			}
		}
		if strings.Contains(u, "evil") || strings.Contains(ended.body, "evil") {
			t.Errorf("%s: got %s and %s", header, u, ended.body)
		}
	}
}
