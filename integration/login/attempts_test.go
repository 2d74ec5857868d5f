package login

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestBadCallbacks: whatever is wrong with a callback, it gets its status, the login cookie
// is cleared, no session begins, and one that the browser has goes on. No code reaches the
// provider.
func TestBadCallbacks(t *testing.T) {
	t.Parallel()
	p, other := newProvider(t, "google"), newProvider(t, "entra")
	s := start(t, slices.Concat(p.settings(), other.settings())...)
	elsewhere := s.browser(t) // of another person
	theirs := elsewhere.attempt(p)
	for name, c := range map[string]struct {
		want   int
		reason string
		change func(b *browser, q url.Values) (path string)
	}{
		"no state":           {401, "state", func(_ *browser, q url.Values) string { q.Del("state"); return "" }},
		"empty state":        {401, "state", func(_ *browser, q url.Values) string { q.Set("state", ""); return "" }},
		"another state":      {401, "state", func(_ *browser, q url.Values) string { q.Set("state", strings.Repeat("A", 43)); return "" }},
		"changed state":      {401, "state", func(_ *browser, q url.Values) string { q.Set("state", q.Get("state")[1:]+"A"); return "" }},
		"state with a space": {401, "state", func(_ *browser, q url.Values) string { q.Set("state", q.Get("state")+" "); return "" }},
		"truncated state":    {401, "state", func(_ *browser, q url.Values) string { q.Set("state", q.Get("state")[:42]); return "" }},
		"state of another browser": {401, "state", func(_ *browser, q url.Values) string {
			q.Set("state", theirs.Get("state"))
			return ""
		}},
		"attempt of another browser": {401, "state", func(b *browser, q url.Values) string {
			q.Set("state", theirs.Get("state"))
			q.Set("code", theirs.Get("code"))
			return ""
		}},
		"cookie of another attempt": {401, "state", func(b *browser, _ url.Values) string {
			b.named(loginCookies)[0].Value = elsewhere.named(loginCookies)[0].Value
			return ""
		}},
		"state repeated":         {401, "state", func(_ *browser, q url.Values) string { q.Add("state", q.Get("state")); return "" }},
		"state twice":            {401, "state", func(_ *browser, q url.Values) string { q.Add("state", "x"); return "" }},
		"code repeated":          {401, "state", func(_ *browser, q url.Values) string { q.Add("code", q.Get("code")); return "" }},
		"iss repeated":           {401, "state", func(_ *browser, q url.Values) string { q["iss"] = []string{p.URL, p.URL}; return "" }},
		"error repeated":         {401, "state", func(_ *browser, q url.Values) string { q["error"] = []string{"a", "b"}; return "" }},
		"another provider":       {401, "state", func(*browser, url.Values) string { return loginPath("entra", "callback") }},
		"unknown provider":       {404, "", func(*browser, url.Values) string { return loginPath("nobody", "callback") }},
		"provider in upper case": {404, "", func(*browser, url.Values) string { return loginPath("GOOGLE", "callback") }},
		"provider in the query": {401, "state", func(_ *browser, q url.Values) string {
			q.Set("provider", "google")
			return loginPath("entra", "callback")
		}},
		"no cookie":              {401, "state", func(b *browser, _ url.Values) string { b.cookies = b.named(sessionCookie); return "" }},
		"tampered cookie":        {401, "state", func(b *browser, _ url.Values) string { flip(b, 30); return "" }},
		"tampered key of cookie": {401, "state", func(b *browser, _ url.Values) string { flip(b, 9); return "" }},
		"tampered end of cookie": {401, "state", func(b *browser, _ url.Values) string { flip(b, -2); return "" }},
		"truncated cookie": {401, "state", func(b *browser, _ url.Values) string {
			c := b.named(loginCookies)[0]
			c.Value = c.Value[:40]
			return ""
		}},
		"empty cookie": {401, "state", func(b *browser, _ url.Values) string { b.named(loginCookies)[0].Value = ""; return "" }},
		"huge cookie": {401, "state", func(b *browser, _ url.Values) string {
			b.named(loginCookies)[0].Value += strings.Repeat("A", 2000)
			return ""
		}},
		"cookie of another name": {401, "state", func(b *browser, _ url.Values) string {
			b.named(loginCookies)[0].Name = loginCookies + "AAAAAAAAAAAA"
			return ""
		}},
		"cookie twice": {401, "state", func(b *browser, _ url.Values) string {
			b.cookies = append(b.cookies, b.named(loginCookies)[0])
			return ""
		}},
		"another iss":      {401, "invalid", func(_ *browser, q url.Values) string { q.Set("iss", other.URL); return "" }},
		"iss with a slash": {401, "invalid", func(_ *browser, q url.Values) string { q.Set("iss", p.URL+"/"); return "" }},
		"empty iss":        {401, "invalid", func(_ *browser, q url.Values) string { q.Set("iss", ""); return "" }},
		"no code":          {401, "denied", func(_ *browser, q url.Values) string { q.Del("code"); return "" }},
		"access denied":    {401, "denied", func(_ *browser, q url.Values) string { q.Del("code"); q.Set("error", "access_denied"); return "" }},
		"error and code":   {401, "denied", func(_ *browser, q url.Values) string { q.Set("error", "login_required"); return "" }},
		"error with a description": {401, "denied", func(_ *browser, q url.Values) string {
			q.Set("error", logintest.Words)
			q.Set("error_description", logintest.Words)
			return ""
		}},
		"error without state":     {401, "state", func(_ *browser, q url.Values) string { q.Del("state"); q.Set("error", "access_denied"); return "" }},
		"long code":               {400, "", func(_ *browser, q url.Values) string { q.Set("code", strings.Repeat("c", 2049)); return "" }},
		"long state":              {400, "", func(_ *browser, q url.Values) string { q.Set("state", strings.Repeat("c", 2049)); return "" }},
		"long query":              {400, "", func(_ *browser, q url.Values) string { q.Set("x", strings.Repeat("c", 8193)); return "" }},
		"unknown code":            {401, "invalid", func(_ *browser, q url.Values) string { q.Set("code", "unknown-code-secret"); return "" }},
		"code of another attempt": {401, "invalid", func(b *browser, q url.Values) string { q.Set("code", theirs.Get("code")); return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.signedIn(t, p, nil)
			b.t = t
			before := b.session()
			q := b.attempt(p)
			exchanges := p.Requests(logintest.TokenPath) + other.Requests(logintest.TokenPath)
			path := c.change(b, q)
			if path == "" {
				path = loginPath("google", "callback")
			}
			got := b.get(path + "?" + q.Encode())
			if got.StatusCode != c.want || b.session() != before {
				t.Errorf("got %d %s with %v, want %d and the old session", got.StatusCode, got.body, got.Header, c.want)
			}
			checkStep(t, got, c.want)
			sent := p.Requests(logintest.TokenPath) + other.Requests(logintest.TokenPath) - exchanges
			if want := map[bool]int{true: 1}[strings.HasSuffix(name, "of another attempt") && c.reason == "invalid" || name == "unknown code"]; sent != want {
				t.Errorf("%d exchanges, want %d", sent, want)
			}
			if got.Header.Get("Location") != "" {
				t.Errorf("Location %q", got.Header.Get("Location"))
			}
			b.is(http.StatusOK)
			if e := s.event(t, got); e["reason"] != nil && e["reason"] != c.reason || e["reason"] == nil && c.reason != "" {
				t.Errorf("logged reason %v, want %q: %v", e["reason"], c.reason, e)
			}
			for _, line := range got.Header.Values("Set-Cookie") {
				if !strings.Contains(line, "Max-Age=0") || !strings.HasPrefix(line, loginCookies) {
					t.Errorf("got the cookie %s", line)
				}
			}
			if cleared := len(got.Header.Values("Set-Cookie")) > 0; q.Get("state") != "" && cleared != (c.want != http.StatusNotFound) {
				t.Errorf("login cookies are cleared: %t: %v", cleared, got.Header)
			}
		})
	}
}

// flip changes a character of the login cookie.
func flip(b *browser, i int) {
	c := b.named(loginCookies)[0]
	i = (i + len(c.Value)) % len(c.Value)
	other := "A"
	if c.Value[i] == 'A' {
		other = "B"
	}
	c.Value = c.Value[:i] + other + c.Value[i+1:]
}

// TestAttemptIsUsedOnce: the callback of an attempt cannot be repeated, not even with a
// browser that kept its cookie and a provider that takes a code twice.
func TestAttemptIsUsedOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.browser(t)
	q := b.attempt(p)
	kept := slices.Clone(b.cookies)
	if got := b.callback("google", q); got.StatusCode != http.StatusFound {
		t.Fatalf("got %d %s", got.StatusCode, got.body)
	}
	exchanges := p.Requests(logintest.TokenPath)
	thief := s.browser(t)
	thief.cookies = kept
	checkStep(t, thief.callback("google", q), http.StatusUnauthorized)
	if p.Requests(logintest.TokenPath) != exchanges || thief.session() != "" {
		t.Errorf("a callback was repeated: %d exchanges, session %q", p.Requests(logintest.TokenPath), thief.session())
	}
	b.is(http.StatusOK)
}

// TestTabs: attempts in several tabs and with several providers do not disturb each other.
// A browser keeps five of them.
func TestTabs(t *testing.T) {
	t.Parallel()
	p, other := newProvider(t, "google"), newProvider(t, "entra")
	s := start(t, slices.Concat(p.settings(), other.settings())...)
	b := s.browser(t)
	first, second := b.attempt(p), b.attempt(other)
	if n := len(b.named(loginCookies)); n != 2 {
		t.Errorf("%d login cookies, want 2", n)
	}
	for _, c := range []struct {
		p *provider
		q url.Values
	}{{other, second}, {p, first}} {
		if got := b.callback(c.p.name, c.q); got.StatusCode != http.StatusFound {
			t.Errorf("%s: got %d %s", c.p.name, got.StatusCode, got.body)
		}
	}
	b.is(http.StatusOK)
	var all []url.Values
	for range 8 {
		all = append(all, b.attempt(p))
	}
	if n := len(b.named(loginCookies)); n != 5 {
		t.Errorf("%d login cookies after eight attempts, want 5", n)
	}
	if got := b.callback("google", all[7]); got.StatusCode != http.StatusFound {
		t.Errorf("the newest attempt: got %d %s", got.StatusCode, got.body)
	}
	b.cookies = append(b.cookies, &http.Cookie{Name: loginCookies + "AAAAAAAAAAAA", Value: "rubbish", Path: "/base/auth/v1/method/"})
	b.begin("google", "")
	if slices.ContainsFunc(b.cookies, func(c *http.Cookie) bool { return c.Value == "rubbish" }) {
		t.Error("a login cookie that cannot be opened is still there")
	}
}

// TestDistinctAttempts: no two attempts have a secret in common.
func TestDistinctAttempts(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	seen := map[string]string{}
	for i := range 10 {
		u, err := url.Parse(s.browser(t).begin("google", "?state=fixed"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			value := u.Query().Get(name)
			if before := seen[value]; before != "" || value == "" {
				t.Errorf("attempt %d: %s %q is also %s", i, name, value, before)
			}
			seen[value] = fmt.Sprint(name, " of attempt ", i)
		}
	}
}

// TestErrorPages: a browser gets a page, and a program JSON, of the same status.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	for name, c := range map[string]struct {
		path string
		want int
	}{
		"state":            {loginPath("google", "callback") + "?state=<script>evil</script>&code=evil-code-secret", 401},
		"return_to":        {loginPath("google", "authorize") + "?return_to=//evil.example", 400},
		"unknown provider": {loginPath("evil", "authorize"), 404},
		"twice":            {loginPath("google", "callback") + "?state=evil&state=evil", 401},
		"malformed query":  {loginPath("google", "callback") + "?state=%zz-evil", 400},
	} {
		for _, accept := range []string{"text/html", "application/json", "*/*", "", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"} {
			b := s.browser(t)
			b.accept = accept
			got := b.get(c.path)
			checkStep(t, got, c.want)
			want := "application/json"
			if strings.Contains(accept, "text/html") {
				want = "text/html"
			}
			if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, want) {
				t.Errorf("%s with Accept %q: type %q, want %s", name, accept, kind, want)
			}
			if strings.Contains(got.body, "evil") {
				t.Errorf("%s: the response repeats what the client sent: %s", name, got.body)
			}
			if want == "text/html" && (!strings.Contains(got.body, "/base/sign-in") || !strings.Contains(got.body, got.Header.Get("X-Request-Id"))) {
				t.Errorf("%s: the page has no link to begin anew, or no request id: %s", name, got.body)
			}
		}
	}
}
