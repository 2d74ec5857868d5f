package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// tokenCase is an ID token: other claims, or another token of the claims.
type tokenCase struct {
	claims map[string]any
	token  func(p *provider, claims map[string]any) string
	want   int
}

func idTokens(p *provider) map[string]tokenCase {
	now := time.Now().Unix()
	with := func(want int, pairs ...any) tokenCase {
		claims := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			claims[pairs[i].(string)] = pairs[i+1]
		}
		return tokenCase{claims: claims, want: want}
	}
	header := func(alg string, members map[string]any) func(p *provider, claims map[string]any) string {
		return func(p *provider, claims map[string]any) string {
			h := map[string]any{"alg": alg, "kid": p.Key.ID, "typ": "JWT"}
			maps.Copy(h, members)
			maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
			return p.Key.Sign("ES256", asJSON(h), asJSON(claims))
		}
	}
	alone := logintest.New("P-256 attacker", "attacker")
	other := logintest.New("RSA attacker", p.Key.ID)
	return map[string]tokenCase{
		"as it must be":              with(302),
		"another issuer":             with(401, "iss", "https://evil.example"),
		"issuer with a slash":        with(401, "iss", p.URL+"/"),
		"no issuer":                  with(401, "iss", logintest.Absent),
		"issuer as a list":           with(401, "iss", []string{p.URL}),
		"another audience":           with(401, "aud", "evil"),
		"no audience":                with(401, "aud", logintest.Absent),
		"empty audience":             with(401, "aud", []string{}),
		"audience prefix":            with(401, "aud", "guidon2"),
		"audience in another case":   with(401, "aud", "Guidon"),
		"list of one audience":       with(302, "aud", []string{"guidon"}),
		"two audiences without azp":  with(401, "aud", []string{"guidon", "evil"}),
		"two audiences with azp":     with(302, "aud", []string{"evil", "guidon"}, "azp", "guidon"),
		"two audiences, another azp": with(401, "aud", []string{"guidon", "evil"}, "azp", "evil"),
		"azp":                        with(302, "azp", "guidon"),
		"another azp":                with(401, "azp", "evil"),
		"azp is a number":            with(401, "azp", 1),
		"expired":                    with(401, "exp", now-90),
		"expired within the skew":    with(302, "exp", now-30),
		"no exp":                     with(401, "exp", logintest.Absent),
		"exp is text":                with(401, "exp", fmt.Sprint(now+3600)),
		"exp is null":                with(401, "exp", nil),
		"exp is negative":            with(401, "exp", -1),
		"issued in the future":       with(401, "iat", now+90),
		"issued within the skew":     with(302, "iat", now+30),
		"no iat":                     with(401, "iat", logintest.Absent),
		"not valid yet":              with(401, "nbf", now+90),
		"not valid within the skew":  with(302, "nbf", now+30),
		"go-oidc's skew of nbf":      with(401, "nbf", now+200),
		"another nonce":              with(401, "nonce", "evil"),
		"no nonce":                   with(401, "nonce", logintest.Absent),
		"empty nonce":                with(401, "nonce", ""),
		"nonce static":               with(401, "nonce", "static"),
		"no sub":                     with(401, "sub", logintest.Absent),
		"empty sub":                  with(401, "sub", ""),
		"sub is a number":            with(401, "sub", 7),
		"long sub":                   with(302, "sub", strings.Repeat("s", 255)),
		"too long sub":               with(401, "sub", strings.Repeat("s", 256)),
		"large":                      with(401, "padding", strings.Repeat("p", 64<<10)),

		"alg none":          {token: func(_ *provider, c map[string]any) string { return unsigned("none", c) }, want: 401},
		"alg None":          {token: func(_ *provider, c map[string]any) string { return unsigned("None", c) }, want: 401},
		"no signature":      {token: func(p *provider, c map[string]any) string { return cut(p.Key.Token("ES256", c)) }, want: 401},
		"changed signature": {token: func(p *provider, c map[string]any) string { return changed(p.Key.Token("ES256", c)) }, want: 401},
		"another key":       {token: func(_ *provider, c map[string]any) string { return alone.Token("ES256", c) }, want: 401},
		"another key, its id": {token: func(p *provider, c map[string]any) string {
			return (&logintest.Key{ID: p.Key.ID, Private: alone.Private}).Token("ES256", c)
		}, want: 401},
		"another type of key": {token: func(_ *provider, c map[string]any) string { return other.Token("RS256", c) }, want: 401},
		"HMAC of the key":     {token: func(p *provider, c map[string]any) string { return symmetric(p, c, p.Key.PEM()) }, want: 401},
		"HMAC of the DER": {token: func(p *provider, c map[string]any) string {
			der, _ := x509.MarshalPKIXPublicKey(p.Key.Private.Public())
			return symmetric(p, c, der)
		}, want: 401},
		"HMAC of the secret": {token: func(p *provider, c map[string]any) string { return symmetric(p, c, []byte(clientSecret)) }, want: 401},
		"alg ES384":          {token: header("ES384", nil), want: 401},
		"alg RS256":          {token: header("RS256", nil), want: 401},
		"no typ":             {token: header("ES256", map[string]any{"typ": nil}), want: 302},
		"typ jwt":            {token: header("ES256", map[string]any{"typ": "jwt"}), want: 302},
		"typ logout+jwt":     {token: header("ES256", map[string]any{"typ": "logout+jwt"}), want: 401},
		"typ at+jwt":         {token: header("ES256", map[string]any{"typ": "at+jwt"}), want: 401},
		"no kid":             {token: header("ES256", map[string]any{"kid": nil}), want: 302},
		"unknown kid":        {token: header("ES256", map[string]any{"kid": "unknown"}), want: 401},
		"crit":               {token: header("ES256", map[string]any{"crit": []string{"exp"}}), want: 401},
		"jwk of an attacker": {token: func(p *provider, c map[string]any) string {
			return alone.Sign("ES256", asJSON(map[string]any{"alg": "ES256", "typ": "JWT", "jwk": alone.JWK()}), asJSON(c))
		}, want: 401},
		"jku of an attacker": {token: func(p *provider, c map[string]any) string {
			return alone.Sign("ES256", asJSON(map[string]any{"alg": "ES256", "kid": "attacker", "jku": p.URL + "/evil"}), asJSON(c))
		}, want: 401},
		"two tokens": {token: func(p *provider, c map[string]any) string {
			return p.Key.Token("ES256", c) + "." + p.Key.Token("ES256", c)
		}, want: 401},
		"five parts":   {token: func(p *provider, c map[string]any) string { return p.Key.Token("ES256", c) + ".a.b" }, want: 401},
		"no token":     {token: func(*provider, map[string]any) string { return "" }, want: 401},
		"rubbish":      {token: func(*provider, map[string]any) string { return logintest.Words }, want: 401},
		"logout token": {claims: map[string]any{"events": map[string]any{logoutEvent: map[string]any{}}}, token: header("ES256", map[string]any{"typ": "logout+jwt"}), want: 401},
		"duplicated claim": {token: func(p *provider, c map[string]any) string {
			return p.Key.Sign("ES256", asJSON(map[string]any{"alg": "ES256", "kid": p.Key.ID}), strings.TrimSuffix(asJSON(c), "}")+`,"aud":"eve"}`) // the last counts
		}, want: 401},
	}
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func unsigned(alg string, claims map[string]any) string {
	return logintest.Encode([]byte(`{"alg":"`+alg+`"}`)) + "." + logintest.Encode([]byte(asJSON(claims))) + "."
}

func cut(token string) string { return token[:strings.LastIndex(token, ".")+1] }

func changed(token string) string {
	i := strings.LastIndex(token, ".") + 1
	other := "A"
	if token[i] == 'A' {
		other = "B"
	}
	return token[:i] + other + token[i+1:]
}

// symmetric returns a token whose signature is an HMAC with the key.
func symmetric(p *provider, claims map[string]any, key []byte) string {
	signed := logintest.Encode([]byte(asJSON(map[string]any{"alg": "HS256", "kid": p.Key.ID}))) + "." + logintest.Encode([]byte(asJSON(claims)))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed))
	return signed + "." + logintest.Encode(mac.Sum(nil))
}

// TestIDTokens: one ID token is accepted, and all that differ in what matters are not.
func TestIDTokens(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	for name, c := range idTokens(p) {
		p.as(c.claims)
		p.Token = func(claims map[string]any) string {
			token := p.Key.Token("ES256", claims)
			if c.token != nil {
				token = c.token(p, claims)
			}
			s.secrets.plant(token)
			return token
		}
		b := s.browser(t)
		got := b.callback("google", b.attempt(p))
		if got.StatusCode != c.want || (b.session() != "") != (c.want == http.StatusFound) {
			t.Errorf("%s: got %d %s, want %d", name, got.StatusCode, got.body, c.want)
		}
		if e := s.event(t, got); c.want == 401 && e["reason"] != "invalid" {
			t.Errorf("%s: reason %v, want invalid", name, e["reason"])
		}
	}
	if p.Requests("/evil") > 0 {
		t.Error("the address in a header of a token was asked")
	}
	if n := p.Requests(logintest.KeysPath); n > 2 {
		t.Errorf("%d requests for keys, want at most 2", n)
	}
}

// TestAdmission: who is on an allow list by a verified address, a domain or a group gets in,
// and nobody else.
func TestAdmission(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	listed := []string{"ALLOW_EVERYONE=false", "ALLOWED_EMAILS=Ada@Home.example", "ALLOWED_DOMAINS=corp.example", "ALLOWED_GROUPS=staff Team-A"}
	s := start(t, p.settings(listed...)...)
	trusting := start(t, p.settings(append(slices.Clone(listed), "TRUST_UNVERIFIED_EMAIL=true")...)...)
	matching := start(t, append(p.settings(listed...), `AUTHENTICATION_METHODS_OIDC_EMAIL_MATCHES=^.*@corp\.example$`)...)
	unverified := logintest.Absent
	for _, c := range []struct {
		name                     string
		claims                   map[string]any
		strict, trusts, patterns int
	}{
		{"domain", map[string]any{"email": "x@corp.example"}, 302, 302, 302},
		{"domain in upper case", map[string]any{"email": "X@CORP.example"}, 302, 302, 302},
		{"e-mail", map[string]any{"email": "ada@home.example"}, 302, 302, 403},
		{"e-mail in another case", map[string]any{"email": "ADA@HOME.EXAMPLE"}, 302, 302, 403},
		{"another e-mail", map[string]any{"email": "eve@home.example"}, 403, 403, 403},
		{"verified as text", map[string]any{"email": "x@corp.example", "email_verified": "true"}, 302, 302, 302},
		{"not verified", map[string]any{"email": "x@corp.example", "email_verified": false}, 403, 403, 403},
		{"not verified, as text", map[string]any{"email": "x@corp.example", "email_verified": "false"}, 403, 403, 403},
		{"verified as number", map[string]any{"email": "x@corp.example", "email_verified": 1}, 403, 403, 403},
		{"verification is absent", map[string]any{"email": "x@corp.example", "email_verified": unverified}, 403, 302, 403},
		{"verification is null", map[string]any{"email": "x@corp.example", "email_verified": nil}, 403, 403, 403},
		{"subdomain", map[string]any{"email": "x@a.corp.example"}, 403, 403, 403},
		{"suffix", map[string]any{"email": "x@evilcorp.example"}, 403, 403, 403},
		{"domain goes on", map[string]any{"email": "x@corp.example.evil"}, 403, 403, 403},
		{"two @", map[string]any{"email": "x@evil.example@corp.example"}, 403, 403, 403},
		{"only a domain", map[string]any{"email": "@corp.example"}, 403, 403, 403},
		{"no e-mail", map[string]any{"email": logintest.Absent}, 403, 403, 403},
		{"not ASCII", map[string]any{"email": "x@córp.example"}, 403, 403, 403},
		{"dot at the end", map[string]any{"email": "x@corp.example."}, 403, 403, 403},
		{"a line in it", map[string]any{"email": "x@evil.example\n@corp.example"}, 403, 403, 403},
		{"list of e-mails", map[string]any{"email": []string{"x@corp.example"}}, 403, 403, 403},
		{"group", map[string]any{"email": "x@else.example", "groups": []string{"a", "staff"}}, 302, 302, 403},
		{"group as text", map[string]any{"email": "x@else.example", "groups": "Team-A"}, 302, 302, 403},
		{"group in another case", map[string]any{"email": "x@else.example", "groups": []string{"team-a", "Staff"}}, 403, 403, 403},
		{"group as an object", map[string]any{"email": "x@else.example", "groups": map[string]any{"staff": true}}, 403, 403, 403},
		{"groups are left out", map[string]any{"email": "x@else.example", "_claim_names": map[string]any{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]any{"endpoint": "https://graph.example/x"}}}, 403, 403, 403},
		{"hasgroups", map[string]any{"email": "x@else.example", "hasgroups": true}, 403, 403, 403},
		{"many groups", map[string]any{"email": "x@else.example", "groups": append(numbered(400), "staff")}, 302, 302, 403},
	} {
		p.as(c.claims)
		for _, at := range []struct {
			service *service
			want    int
		}{{s, c.strict}, {trusting, c.trusts}, {matching, c.patterns}} {
			b := at.service.browser(t)
			got := b.callback("google", b.attempt(p))
			if got.StatusCode != at.want || (b.session() != "") != (at.want == 302) {
				t.Errorf("%s at %s: got %d %s, want %d", c.name, at.service.URL, got.StatusCode, got.body, at.want)
			}
			e := at.service.event(t, got)
			if at.want == 403 && e["reason"] != "not_admitted" {
				t.Errorf("%s: reason %v, want not_admitted", c.name, e["reason"])
			}
			if c.name == "no e-mail" && !strings.Contains(fmt.Sprint(e["error"]), "no claim email, groups,") {
				t.Errorf("%s: the log says %v, want the missing claims", c.name, e["error"])
			}
			if strings.Contains(got.body, "evil") || at.want == 403 && strings.Contains(got.body, "example") {
				t.Errorf("%s: the response repeats the person: %s", c.name, got.body)
			}
		}
	}
}

func numbered(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("group-", i)
	}
	return all
}
