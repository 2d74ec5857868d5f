package oidc_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
)

// claimsCases are claims that ID tokens and logout tokens are judged by alike. cause is
// that of the rejection, "" for none.
var claimsCases = []struct {
	name  string
	claim string
	value any
	cause string
}{
	{"no iss", "iss", logintest.Absent, "iss is"},
	{"another iss", "iss", "https://evil.example", "iss is"},
	{"iss array", "iss", []any{"x"}, "iss is not a string"},
	{"iss null", "iss", nil, "iss is"},
	{"no aud", "aud", logintest.Absent, "aud"},
	{"another aud", "aud", "other", "aud"},
	{"aud in another case", "aud", "Guidon", "aud"},
	{"aud prefix", "aud", "guidon2", "aud"},
	{"aud array", "aud", []any{"guidon"}, ""},
	{"aud twice", "aud", []any{"guidon", "guidon"}, ""},
	{"aud empty array", "aud", []any{}, "aud"},
	{"aud without us", "aud", []any{"a", "b"}, "aud"},
	{"aud with others, no azp", "aud", []any{"guidon", "other"}, "azp"},
	{"aud with a number", "aud", []any{"guidon", 1}, "aud is neither"},
	{"aud with null", "aud", []any{"guidon", nil}, "aud is neither"},
	{"aud object", "aud", map[string]any{"guidon": "guidon"}, "aud is neither"},
	{"azp", "azp", "guidon", ""},
	{"another azp", "azp", "other", "azp"},
	{"empty azp", "azp", "", "azp"},
	{"azp null", "azp", nil, "azp"},
	{"azp array", "azp", []any{"guidon"}, "azp"},
	{"no exp", "exp", logintest.Absent, "exp is missing"},
	{"exp string", "exp", "4102444800", "exp is not a number"},
	{"exp null", "exp", nil, "exp is not a number"},
	{"exp fraction", "exp", 4102444800.5, ""},
	{"exp exponent", "exp", json.Number("4.1e9"), ""},
	{"exp huge", "exp", json.Number("1e300"), "exp is not a time"},
	{"exp beyond floats", "exp", json.Number("1e999"), "exp is not a time"},
	{"exp in milliseconds", "exp", 4102444800000, "exp is not a time"},
	{"exp negative", "exp", -1, "exp is not a time"},
	{"exp 0", "exp", 0, "exp is past"},
	{"exp array", "exp", []any{4102444800}, "exp is not a number"},
	{"no iat", "iat", logintest.Absent, "iat is missing"},
	{"iat string", "iat", "1795348800", "iat is not a number"},
	{"iat huge", "iat", json.Number("1e300"), "iat"},
	{"iat negative", "iat", -1, "iat"},
	{"nbf string", "nbf", "0", "nbf is not a number"},
	{"nbf null", "nbf", nil, "nbf is not a number"},
	{"nbf past", "nbf", 0, ""},
	{"nbf huge", "nbf", 253402300799, "nbf is ahead"},
	{"sub empty", "sub", "", "sub"},
	{"sub null", "sub", nil, "sub is not a string"},
	{"sub number", "sub", 1, "sub is not a string"},
	{"sub array", "sub", []any{"ada"}, "sub is not a string"},
	{"sub of 255 characters", "sub", strings.Repeat("é", 255), ""},
	{"sub of 256 characters", "sub", strings.Repeat("a", 256), "sub must have"},
	{"sub with a newline", "sub", "ada\nbob", "sub must have"},
	{"sub with NUL", "sub", "ada\x00", "sub must have"},
	{"sub with a change of direction", "sub", "ada\u202e", "sub must have"},
	{"sub with a replaced character", "sub", "ada\ufffd", "sub must have"},
	{"sub with colons and spaces", "sub", "x:email:a b@c", ""},
	{"no sid", "sid", logintest.Absent, ""},
	{"sid", "sid", "08a5019c-17e1-4977-8f42-65a12843ea02", ""},
	{"sid number", "sid", 7, "sid"},
	{"sid null", "sid", nil, "sid is not a string"},
	{"sid too long", "sid", strings.Repeat("a", 256), "sid must have"},
	{"sid with a newline", "sid", "a\nb", "sid must have"},
}

func TestClaims(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range claimsCases {
		t.Run(test.name, func(t *testing.T) {
			w.flow.Claims = map[string]any{test.claim: test.value}
			_, err := w.signIn(t)
			checkVerdict(t, err, test.cause)
		})
	}
	for _, test := range []struct {
		name   string
		claims map[string]any
		cause  string
	}{
		{"no sub", map[string]any{"sub": logintest.Absent}, "sub must have"},
		{"aud with others, azp", map[string]any{"aud": []any{"guidon", "other"}, "azp": "guidon"}, ""},
		{"aud with others, another azp", map[string]any{"aud": []any{"guidon", "other"}, "azp": "other"}, "azp"},
		{"aud without us, azp", map[string]any{"aud": []any{"other"}, "azp": "guidon"}, "aud"},
		{"no nonce", map[string]any{"nonce": logintest.Absent}, "nonce"},
		{"empty nonce", map[string]any{"nonce": ""}, "nonce"},
		{"another nonce", map[string]any{"nonce": "static"}, "nonce"},
		{"nonce array", map[string]any{"nonce": []any{"x"}}, "nonce is not a string"},
		{"nonce null", map[string]any{"nonce": nil}, "nonce is not a string"},
		{"issuer in another case", map[string]any{"iss": strings.ToUpper(w.remote.URL)}, "iss is"},
		{"issuer and slash", map[string]any{"iss": w.remote.URL + "/"}, "iss is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.flow.Claims = test.claims
			_, err := w.signIn(t)
			checkVerdict(t, err, test.cause)
		})
	}
}

// checkVerdict checks that the error is Unauthenticated with the cause, or nil for "".
func checkVerdict(t testing.TB, err error, cause string) {
	t.Helper()
	if cause == "" {
		if err != nil {
			t.Errorf("got %v, want it accepted", err)
		}
		return
	}
	checkCode(t, err, guidon.Unauthenticated, cause)
}

// TestTimes: each time is accepted within 60 seconds of skew, and no longer.
func TestTimes(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range []struct {
		claim  string
		offset time.Duration // from now
		cause  string
	}{
		{"exp", -59 * time.Second, ""}, {"exp", -60 * time.Second, "exp is past"}, {"exp", -5 * time.Minute, "exp is past"},
		{"nbf", 60 * time.Second, ""}, {"nbf", 61 * time.Second, "nbf is ahead"}, {"nbf", 4 * time.Minute, "nbf is ahead"},
		{"iat", 60 * time.Second, ""}, {"iat", 61 * time.Second, "iat is ahead"}, {"iat", -24 * time.Hour, ""},
	} {
		t.Run(fmt.Sprint(test.claim, test.offset), func(t *testing.T) {
			w.flow.Claims = map[string]any{test.claim: w.clock.Now().Add(test.offset).Unix()}
			_, err := w.signIn(t)
			checkVerdict(t, err, test.cause)
		})
	}
}

// members returns the JSON of the claims, with more members at its end.
func members(claims map[string]any, more string) string {
	b, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(string(b), "}") + more + "}"
}

// TestForms: unusual forms of ID tokens.
func TestForms(t *testing.T) {
	w := newWorld(t, nil)
	key := w.flow.Key
	sign := func(header, payload string) string { return key.Sign("ES256", header, payload) }
	const usual = `{"alg":"ES256","kid":"p256"}`
	typ := func(value string) func(map[string]any) string {
		return func(c map[string]any) string {
			return sign(`{"alg":"ES256","kid":"p256","typ":`+value+`}`, members(c, ""))
		}
	}
	payload := func(more string) func(map[string]any) string {
		return func(c map[string]any) string { return sign(usual, members(c, more)) }
	}
	for _, test := range []struct {
		name  string
		token func(claims map[string]any) string
		cause string
	}{
		{"no typ", payload(""), ""},
		{"typ JWT", typ(`"JWT"`), ""},
		{"typ jwt", typ(`"jwt"`), ""},
		{"typ of access tokens", typ(`"at+jwt"`), "typ"},
		{"typ of access tokens, in full", typ(`"application/at+jwt"`), "typ"},
		{"typ of logout tokens", typ(`"logout+jwt"`), "typ"},
		{"typ of events", typ(`"secevent+jwt"`), "typ"},
		{"typ number", typ(`1`), "typ"},
		{"iss twice", payload(`,"iss":"https://evil.example"`), "iss is"}, // the last counts
		{"iss twice, escaped", payload(`,"\u0069ss":"https://evil.example"`), "iss is"},
		{"aud twice", payload(`,"aud":"other"`), "aud does not contain"},
		{"sub in another case", payload(`,"SUB":"eve"`), ""}, // go-oidc takes it for the subject, we do not
		{"iss in another case", payload(`,"ISS":"https://evil.example"`), "different provider"},
		{"not UTF-8", payload(",\"x\":\"\xff\""), "UTF-8"},
		{"no object", func(map[string]any) string { return sign(usual, `[]`) }, "not a JSON object"},
		{"null", func(map[string]any) string { return sign(usual, `null`) }, "iss is"},
		{"malformed", func(c map[string]any) string { return sign(usual, members(c, ",")) }, "malformed"},
		{"deep", payload(`,"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40)), ""},
		{"too large", payload(`,"x":"` + strings.Repeat("x", 64<<10) + `"`), "65536"},
		{"alg none", func(c map[string]any) string {
			return logintest.Encode([]byte(`{"alg":"none"}`)) + "." + logintest.Encode([]byte(members(c, ""))) + "."
		}, "token"},
		{"HS256 with the public key", hmacToken(key.PEM()), "token"},
		{"HS256 with the client secret", hmacToken([]byte(w.flow.ClientSecret)), "token"},
		{"key of somebody else", func(c map[string]any) string {
			return logintest.New("P-256 2", "p256").Token("ES256", c)
		}, "signature"},
		{"unknown key", func(c map[string]any) string { return logintest.New("P-256 2", "other").Token("ES256", c) }, "no key"},
		{"signature of other claims", func(c map[string]any) string {
			parts := strings.Split(key.Token("ES256", c), ".")
			c["sub"] = "eve"
			return parts[0] + "." + logintest.Encode([]byte(members(c, ""))) + "." + parts[2]
		}, "signature"},
		{"two signatures", func(c map[string]any) string {
			parts := strings.Split(key.Token("ES256", c), ".")
			return fmt.Sprintf(`{"payload":%q,"signatures":[{"protected":%q,"signature":%q},{"protected":%q,"signature":%q}]}`,
				parts[1], parts[0], parts[2], parts[0], parts[2])
		}, "number of segments"},
		{"crit", func(c map[string]any) string {
			return sign(`{"alg":"ES256","kid":"p256","crit":["exp"]}`, members(c, ""))
		}, "crit"},
		{"nothing", func(map[string]any) string { return "" }, "no id_token"},
		{"a word", func(map[string]any) string { return logintest.Words }, "number of segments"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.flow.Token = test.token
			identity, err := w.signIn(t)
			checkVerdict(t, err, test.cause)
			if err == nil && identity.Subject != "oidc:acme:sub:ada" {
				t.Errorf("got subject %q, want that of sub", identity.Subject)
			}
		})
	}
}

func hmacToken(secret []byte) func(map[string]any) string {
	return func(c map[string]any) string {
		signed := logintest.Encode([]byte(`{"alg":"HS256","kid":"p256"}`)) + "." + logintest.Encode([]byte(members(c, "")))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + logintest.Encode(mac.Sum(nil))
	}
}

func TestAlgorithms(t *testing.T) {
	for kind, algorithm := range map[string]string{"RSA": "RS256", "RSA 2": "PS384", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA"} {
		t.Run(algorithm, func(t *testing.T) {
			sign := func(allowed ...string) error {
				w := newWorld(t, func(c *oidc.Config) { c.Algorithms = allowed })
				w.flow.Key, w.flow.Algorithm = logintest.New(kind, "k"), algorithm
				w.remote.PublishKeys(w.flow.Key)
				_, err := w.signIn(t)
				return err
			}
			checkVerdict(t, sign(), "")
			checkVerdict(t, sign(algorithm), "")
			checkVerdict(t, sign("ES256"), "token")
		})
	}
}

// TestIDTokenMissing: some responses have no ID token.
func TestIDTokenMissing(t *testing.T) {
	w := newWorld(t, nil)
	for _, value := range []any{nil, 1, "", []any{"x"}, map[string]any{"x": "y"}} {
		w.flow.Response = func(members map[string]any) { members["id_token"] = value }
		_, err := w.signIn(t)
		checkVerdict(t, err, "no id_token")
	}
}
