package bearer_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// text returns the JSON of the value.
func text(t testing.TB, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestClaims: which claims are accepted. Whatever is accepted, golang-jwt accepts as well.
func TestClaims(t *testing.T) {
	f := newFixture(t, func(c *bearer.Config) { c.Audiences = []string{audience, "other"} })
	reference := jwt.NewParser(jwt.WithIssuer(issuer), jwt.WithAudience(audience, "other"), jwt.WithIssuedAt(),
		jwt.WithLeeway(time.Minute), jwt.WithTimeFunc(f.clock.Now), jwt.WithValidMethods([]string{"EdDSA"}))
	const hour, second = time.Hour, time.Second
	for name, test := range map[string]struct {
		claims map[string]any
		ok     bool
	}{
		"valid":                {nil, true},
		"audience in a list":   {map[string]any{"aud": []string{"x", audience}}, true},
		"another audience":     {map[string]any{"aud": []string{"other"}}, true},
		"exp, nbf and iat":     {map[string]any{"nbf": f.at(-second), "iat": f.at(-hour)}, true},
		"only iat":             {map[string]any{"exp": nil, "iat": f.at(0)}, true},
		"only nbf":             {map[string]any{"exp": nil, "nbf": f.at(0)}, true},
		"fraction":             {map[string]any{"exp": float64(f.at(hour)) + 0.5}, true},
		"no sub":               {map[string]any{"sub": nil}, true},
		"sub of 255":           {map[string]any{"sub": strings.Repeat("ä", 255)}, true},
		"no issuer":            {map[string]any{"iss": nil}, false},
		"wrong issuer":         {map[string]any{"iss": "https://evil.example"}, false},
		"issuer with a slash":  {map[string]any{"iss": issuer + "/"}, false},
		"issuer in a list":     {map[string]any{"iss": []string{issuer}}, false},
		"issuer in capitals":   {map[string]any{"iss": nil, "ISS": issuer}, false},
		"no audience":          {map[string]any{"aud": nil}, false},
		"empty audience":       {map[string]any{"aud": ""}, false},
		"no audiences":         {map[string]any{"aud": []string{}}, false},
		"wrong audience":       {map[string]any{"aud": "guidon2"}, false},
		"audiences in a text":  {map[string]any{"aud": "guidon other"}, false},
		"audience, and number": {map[string]any{"aud": []any{audience, 1}}, false},
		"no times":             {map[string]any{"exp": nil}, false},
		"exp 0":                {map[string]any{"exp": 0}, false},
		"exp as text":          {map[string]any{"exp": "9999999999"}, false},
		"exp true":             {map[string]any{"exp": true}, false},
		"exp negative":         {map[string]any{"exp": -1}, false},
		"exp huge":             {map[string]any{"exp": 1e300}, false},
		"nbf as text":          {map[string]any{"nbf": "1"}, false},
		"iat as text":          {map[string]any{"iat": "1"}, false},
		"expired":              {map[string]any{"exp": f.at(-hour)}, false},
		"not yet valid":        {map[string]any{"nbf": f.at(hour)}, false},
		"issued later":         {map[string]any{"iat": f.at(hour)}, false},
		"empty sub":            {map[string]any{"sub": ""}, false},
		"sub of 256":           {map[string]any{"sub": strings.Repeat("x", 256)}, false},
		"sub number":           {map[string]any{"sub": 7}, false},
		"sub list":             {map[string]any{"sub": []string{"ada"}}, false},
		"sub with newline":     {map[string]any{"sub": "ada\n"}, false},
		"sub with NUL":         {map[string]any{"sub": "ada\x00"}, false},
		"sub malformed":        {map[string]any{"sub": "ada\ufffd"}, false},
	} {
		token := f.token(test.claims)
		if !test.ok {
			f.refuse(t, name, token)
			continue
		}
		if _, err := f.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: rejected: %v", name, err)
		}
		if _, err := reference.Parse(token, func(*jwt.Token) (any, error) { return f.key.Private.Public(), nil }); err != nil {
			t.Errorf("%s: golang-jwt rejects it: %v", name, err)
		}
	}
}

// TestPayloads: payloads that are valid to other parsers.
func TestPayloads(t *testing.T) {
	f := newFixture(t, nil)
	const header = `{"alg":"EdDSA","kid":"k"}`
	good := text(t, f.claims(nil))
	f.accept(t, f.key.Sign("EdDSA", header, good))
	for name, payload := range map[string]string{
		"audience twice":    strings.Replace(good, `"sub":"ada"`, `"aud":"guidon","aud":"other"`, 1), // the last counts
		"audience, escaped": strings.Replace(good, `"sub":"ada"`, `"aud":"guidon","\u0061ud":"other"`, 1),
		"invalid UTF-8":     strings.Replace(good, "ada", "ad\xff", 1),
		"lone surrogate":    strings.Replace(good, "ada", `\ud800`, 1),
		"sub null":          strings.Replace(good, `"ada"`, "null", 1),
		"aud null":          strings.Replace(good, `"guidon"`, "null", 1),
		"list":              "[" + good + "]",
		"null":              "null",
		"two objects":       good + good,
		"truncated":         good[:len(good)-1],
		"nothing":           "",
	} {
		f.refuse(t, name, f.key.Sign("EdDSA", header, payload))
	}
}

// TestSkew: clocks may differ by less than a minute at the end, and by a minute at the
// start.
func TestSkew(t *testing.T) {
	const lifetime = 150 * time.Second
	for name, test := range map[string]struct {
		claims     map[string]any // times are relative to now
		advance    time.Duration
		ok         bool
		expiration time.Duration // relative to the start
	}{
		"exp, last":          {map[string]any{"exp": time.Hour}, time.Hour + time.Minute - 1, true, time.Hour},
		"exp, past":          {map[string]any{"exp": time.Hour}, time.Hour + time.Minute, false, 0},
		"nbf, first":         {map[string]any{"exp": time.Hour, "nbf": time.Minute}, 0, true, time.Hour},
		"nbf, early":         {map[string]any{"exp": time.Hour, "nbf": time.Minute + time.Second}, 0, false, 0},
		"nbf, after waiting": {map[string]any{"exp": time.Hour, "nbf": time.Minute + time.Second}, time.Second, true, time.Hour},
		"iat, first":         {map[string]any{"exp": time.Hour, "iat": time.Minute}, 0, true, time.Hour},
		"iat, early":         {map[string]any{"exp": time.Hour, "iat": time.Minute + time.Second}, 0, false, 0},
		"only iat, last":     {map[string]any{"iat": time.Duration(0)}, lifetime + time.Minute - 1, true, lifetime},
		"only iat, past":     {map[string]any{"iat": time.Duration(0)}, lifetime + time.Minute, false, 0},
		"only nbf, last":     {map[string]any{"nbf": time.Duration(0)}, lifetime + time.Minute - 1, true, lifetime},
		"only nbf, past":     {map[string]any{"nbf": time.Duration(0)}, lifetime + time.Minute, false, 0},
		"iat before nbf":     {map[string]any{"iat": -time.Minute, "nbf": time.Duration(0)}, 0, true, lifetime - time.Minute},
	} {
		f := newFixture(t, nil)
		start := f.clock.Now()
		claims := f.claims(map[string]any{"exp": nil})
		for claim, at := range test.claims {
			claims[claim] = f.at(at.(time.Duration))
		}
		token := f.key.Token("EdDSA", claims)
		f.clock.Advance(test.advance)
		if !test.ok {
			f.refuse(t, name, token)
			continue
		}
		identity, err := f.Verify(t.Context(), token)
		if err != nil {
			t.Errorf("%s: rejected: %v", name, err)
			continue
		}
		if want := start.Add(test.expiration); !identity.Expires.Equal(want) {
			t.Errorf("%s: expires %v, want %v", name, identity.Expires, want)
		}
	}
}

// TestHeaders: kinds of token, and headers by which a token could bring its own key.
func TestHeaders(t *testing.T) {
	f := newFixture(t, nil)
	payload, mallory := text(t, f.claims(nil)), logintest.New("Ed25519 2", "k")
	own := text(t, mallory.JWK())
	for header, ok := range map[string]bool{
		`{"alg":"EdDSA","kid":"k"}`:                               true,
		`{"alg":"EdDSA"}`:                                         true,
		`{"alg":"EdDSA","kid":"k","typ":"JWT"}`:                   true,
		`{"alg":"EdDSA","kid":"k","typ":"jwt"}`:                   true,
		`{"alg":"EdDSA","kid":"k","typ":"at+jwt"}`:                true,
		`{"alg":"EdDSA","kid":"k","typ":"application/at+jwt"}`:    true,
		`{"alg":"EdDSA","kid":"k","typ":"logout+jwt"}`:            false,
		`{"alg":"EdDSA","kid":"k","typ":"dpop+jwt"}`:              false,
		`{"alg":"EdDSA","kid":"k","typ":"secevent+jwt"}`:          false,
		`{"alg":"EdDSA","kid":"k","typ":"application/"}`:          false,
		`{"alg":"EdDSA","kid":"k","typ":"text/jwt"}`:              false,
		`{"alg":"EdDSA","kid":"k","typ":"JWT "}`:                  false,
		`{"alg":"EdDSA","kid":"k","typ":["JWT"]}`:                 false,
		`{"alg":"EdDSA","kid":"k","cty":"JWT"}`:                   true,
		`{"alg":"EdDSA","kid":"k","crit":["exp"],"exp":1}`:        false,
		`{"alg":"EdDSA","kid":"k","crit":[]}`:                     false,
		`{"alg":"EdDSA","kid":"k","b64":false,"crit":["b64"]}`:    false,
		`{"alg":"EdDSA","kid":"k","zip":"DEF"}`:                   true,
		`{"alg":"EdDSA","kid":"K"}`:                               false,
		`{"alg":"EdDSA","kid":"../../dev/null"}`:                  false,
		`{"alg":"EdDSA","kid":"k' OR '1'='1"}`:                    false,
		`{"alg":"EdDSA","kid":["k"]}`:                             false,
		`{"alg":"EdDSA","alg":"none","kid":"k"}`:                  false,
		`{"alg":"none","kid":"k"}`:                                false,
		`{"alg":"NONE"}`:                                          false,
		`{"alg":"HS256","kid":"k"}`:                               false,
		`{"alg":"RS256","kid":"k"}`:                               false,
		`{"alg":"eddsa","kid":"k"}`:                               false,
		`{"kid":"k"}`:                                             false,
		`{"alg":"EdDSA","kid":"k","jwk":` + own + `}`:             true, // signed by the published key all the same
		`{"alg":"EdDSA","kid":"k","jku":"https://evil.example/"}`: true,
		`{"alg":"EdDSA","kid":"k","x5u":"https://evil.example/"}`: true,
	} {
		token := f.key.Sign("EdDSA", header, payload)
		if ok {
			f.accept(t, token)
		} else {
			f.refuse(t, header, token)
		}
	}
	for _, header := range []string{
		`{"alg":"EdDSA","kid":"k"}`, `{"alg":"EdDSA"}`, `{"alg":"EdDSA","kid":"k","jwk":` + own + `}`, `{"alg":"EdDSA","jwk":` + own + `}`,
		`{"alg":"EdDSA","jku":"` + f.issuer.URL + `/mallory"}`,
	} {
		f.refuse(t, "another key, "+header, mallory.Sign("EdDSA", header, payload))
	}
	if n := f.issuer.Requests("/mallory"); n != 0 {
		t.Errorf("%d requests for the keys of a token", n)
	}
}

// TestForms: texts that are not one signed token in the compact form.
func TestForms(t *testing.T) {
	f := newFixture(t, nil)
	good := f.token(nil)
	parts := strings.Split(good, ".")
	unsigned := logintest.Encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	public := f.key.PEM()
	head := logintest.Encode([]byte(`{"alg":"HS256","kid":"k"}`)) + "." + parts[1]
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(head))
	for name, token := range map[string]string{
		"nothing":                "",
		"dots":                   "..",
		"client token":           "gdn_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"two parts":              parts[0] + "." + parts[1],
		"four parts":             good + "." + parts[2],
		"encrypted":              good + "." + parts[1] + "." + parts[2],
		"trailing dot":           good + ".",
		"unsigned":               unsigned,
		"unsigned, with a text":  unsigned + "AA",
		"no signature":           parts[0] + "." + parts[1] + ".",
		"HMAC by the public key": head + "." + logintest.Encode(mac.Sum(nil)),
		"leading space":          " " + good,
		"newline":                good + "\n",
		"padding":                good + "==",
		"JSON form":              `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"two signatures":         `{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"},{}]}`,
		"scheme":                 "Bearer " + good,
		"other signature":        parts[0] + "." + parts[1] + "." + strings.Split(f.token(map[string]any{"x": 1}), ".")[2],
		"other payload":          parts[0] + "." + strings.Split(f.token(map[string]any{"x": 1}), ".")[1] + "." + parts[2],
	} {
		f.refuse(t, name, token)
	}
}

func TestLength(t *testing.T) {
	f := newFixture(t, nil)
	at := func(length int) string {
		for n := (length - 250) * 3 / 4; ; n++ {
			if token := f.token(map[string]any{"pad": strings.Repeat("x", n)}); len(token) >= length {
				return token
			}
		}
	}
	long := at(16<<10 - 1)
	if len(long) > 16<<10 {
		t.Fatalf("the test has a token of %d bytes", len(long))
	}
	f.accept(t, long)
	if _, ok := f.Remembered(t.Context(), long); !ok {
		t.Error("not remembered")
	}
	f.refuse(t, "longer", at(16<<10+1))
	f.refuse(t, "very long", strings.Repeat("x", 10<<20))
}

// TestUnknownKeyID: keys are not fetched for each token with an unknown id.
func TestUnknownKeyID(t *testing.T) {
	f := newFixture(t, nil)
	f.accept(t, f.token(nil))
	for range 10 {
		f.refuse(t, "unknown id", logintest.New("Ed25519", "unknown").Token("EdDSA", f.claims(nil)))
	}
	if n := f.issuer.Requests(logintest.KeysPath); n != 1 {
		t.Errorf("%d requests for the keys, want 1", n)
	}
}

// TestErrors: the log learns why a token was not accepted, but neither the token nor what
// cannot be printed.
func TestErrors(t *testing.T) {
	f := newFixture(t, nil)
	token := f.token(map[string]any{"iss": "https://evil.example\n" + strings.Repeat("x", 1000)})
	_, err := f.Verify(t.Context(), token)
	got := err.Error()
	if !strings.Contains(got, `iss of the token is "https://evil.example x`) || len(got) > 500 || strings.ContainsAny(got, "\n") {
		t.Errorf("the log has %q", got)
	}
	for _, part := range strings.Split(token, ".") {
		if strings.Contains(got, part) {
			t.Errorf("the log has a part of the token: %q", got)
		}
	}
	if got := guidon.PublicMessage(err); got != "request was not authenticated" {
		t.Errorf("clients see %q", got)
	}
}
