package issuer_test

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/golang-jwt/jwt/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// The three verifiers.
const (
	ours      = "ours"
	goOIDC    = "go-oidc"
	golangJWT = "golang-jwt"
)

// sample is a token that the verifiers judge. A verifier that accepts what ours rejects,
// or rejects what ours accepts, is in differs, with the reason.
type sample struct {
	name     string
	token    string
	accepted bool
	differs  map[string]string
}

// both is for a sample on which both libraries differ, for the same reason.
func both(reason string) map[string]string {
	return map[string]string{goOIDC: reason, golangJWT: reason}
}

// published are the keys of the issuer.
func published() []*logintest.Key {
	return []*logintest.Key{
		logintest.New("RSA", "rsa"), logintest.New("P-256", "p256"), logintest.New("P-384", "p384"),
		logintest.New("P-521", "p521"), logintest.New("Ed25519", "ed"),
		logintest.New("RSA 3", "only-ps").With("alg", "PS256"), logintest.New("P-256 3", "enc").With("use", "enc"),
	}
}

// kinds are the algorithms that a type of key fits.
var kinds = map[string][]string{
	"RSA":   {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"},
	"P-256": {"ES256"}, "P-384": {"ES384"}, "P-521": {"ES512"}, "Ed25519": {"EdDSA"},
}

// ids are those of the published keys by type.
var ids = map[string]string{"RSA": "rsa", "P-256": "p256", "P-384": "p384", "P-521": "p521", "Ed25519": "ed"}

func header(alg, kid string) string {
	h := map[string]any{"alg": alg, "typ": "JWT"}
	if kid != "" {
		h["kid"] = kid
	}
	b, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const payload = `{"iss":"https://acme.example","sub":"ada","aud":"guidon"}`

// samples returns the tokens.
func samples() []sample {
	return slices.Concat(matching(), confused(), withoutKey(), damaged(), headers(), restricted(), secrets())
}

// matching are tokens of each algorithm: by the right key, and by another of its type;
// with the right id, without one, and with that of no key.
func matching() []sample {
	var all []sample
	for kind, algs := range kinds {
		for _, alg := range algs {
			right, wrong := logintest.New(kind, ""), logintest.New(kind+" 2", "")
			for _, kid := range []string{ids[kind], "", "unknown"} {
				name := fmt.Sprintf("%s, id %q", alg, kid)
				all = append(all,
					sample{name: name, token: right.Sign(alg, header(alg, kid), payload), accepted: kid != "unknown"},
					sample{name: name + ", another key", token: wrong.Sign(alg, header(alg, kid), payload)})
			}
		}
	}
	return all
}

// confused are tokens that name a key of another type than their algorithm's.
func confused() []sample {
	var all []sample
	for kind, algs := range kinds {
		for other, id := range ids {
			if other != kind {
				alg := algs[0]
				all = append(all, sample{name: alg + " with the id of " + other, token: logintest.New(kind, "").Sign(alg, header(alg, id), payload)})
			}
		}
	}
	for _, pair := range [][2]string{{"RS256", "RS384"}, {"RS256", "PS256"}, {"PS256", "RS256"}, {"PS512", "PS256"}} {
		for _, kid := range []string{"rsa", ""} {
			all = append(all, sample{
				name:  fmt.Sprintf("%s that says it is %s, id %q", pair[0], pair[1], kid),
				token: logintest.New("RSA", "").Sign(pair[0], header(pair[1], kid), payload),
			})
		}
	}
	return all
}

// withoutKey are tokens that need no private key to make.
func withoutKey() []sample {
	var all []sample
	for _, alg := range []string{"none", "None", "NONE", "nOnE", "", "HS256", "ES256K", "RS1", "rs256", "Ed25519", "RSA-OAEP", "ML-DSA-44", "A128KW", "dir"} {
		for _, kid := range []string{"rsa", ""} {
			unsigned := logintest.Encode([]byte(header(alg, kid))) + "." + logintest.Encode([]byte(payload)) + "."
			all = append(all,
				sample{name: fmt.Sprintf("alg %q unsigned, id %q", alg, kid), token: unsigned},
				sample{name: fmt.Sprintf("alg %q with a signature, id %q", alg, kid), token: unsigned + "AQAB"})
		}
	}
	return all
}

// damageSeen says which verifiers accept damaged tokens.
var damageSeen = map[string]map[string]string{
	"leading space":  {goOIDC: "go-jose removes white space"},
	"trailing space": {goOIDC: "go-jose removes white space"},
}

// damaged are tokens that were changed after they were signed.
func damaged() []sample {
	var all []sample
	for kind, algs := range kinds {
		alg := algs[len(algs)-1]
		good := logintest.New(kind, "").Sign(alg, header(alg, ids[kind]), payload)
		parts := strings.Split(good, ".")
		for name, token := range map[string]string{
			"other payload":       parts[0] + "." + logintest.Encode([]byte(strings.Replace(payload, "ada", "eve", 1))) + "." + parts[2],
			"no signature":        parts[0] + "." + parts[1] + ".",
			"two parts":           parts[0] + "." + parts[1],
			"four parts":          good + ".AQAB",
			"five parts":          good + ".AQAB.AQAB",
			"trailing dot":        good + ".",
			"leading dot":         "." + good,
			"empty payload":       parts[0] + ".." + parts[2],
			"empty header":        "." + parts[1] + "." + parts[2],
			"padding":             good + "=",
			"shorter signature":   good[:len(good)-4],
			"longer signature":    good + "AAAA",
			"signature as base64": parts[0] + "." + parts[1] + ".+/" + parts[2][2:],
			"zero signature":      parts[0] + "." + parts[1] + "." + logintest.Encode(make([]byte, len(parts[2])*3/4)),
			"leading space":       " " + good,
			"trailing space":      good + " ",
			"inner NUL":           parts[0] + "\x00." + parts[1] + "." + parts[2],
		} {
			all = append(all, sample{name: alg + ": " + name, token: token, differs: damageSeen[name]})
		}
	}
	return all
}

// headers are tokens with unusual headers, rightly signed.
func headers() []sample {
	key, mallory := logintest.New("P-256", ""), logintest.New("P-256 2", "")
	jwk, err := json.Marshal(mallory.JWK())
	if err != nil {
		panic(err)
	}
	certificate := fmt.Sprintf(`["%s"]`, "MIIB")
	const base = `{"alg":"ES256","kid":"p256"`
	sign := func(h string) string { return key.Sign("ES256", h, payload) }
	return []sample{
		{name: "no typ", token: sign(base + `}`), accepted: true},
		{name: "another typ", token: sign(base + `,"typ":"logout+jwt"}`), accepted: true},
		{name: "typ number", token: sign(base + `,"typ":1}`), differs: both("it does not look at typ")},
		{name: "unknown member", token: sign(base + `,"x":{"y":[1,2]}}`), accepted: true},
		{name: "jku, signed by the published key", token: sign(base + `,"jku":"http://evil.example"}`), accepted: true},
		{name: "x5u, signed by the published key", token: sign(base + `,"x5u":"http://evil.example"}`), accepted: true},
		{name: "own jwk, id of a published key", token: mallory.Sign("ES256", base+`,"jwk":`+string(jwk)+`}`, payload)},
		{name: "own jwk, no id", token: mallory.Sign("ES256", `{"alg":"ES256","jwk":`+string(jwk)+`}`, payload)},
		{name: "own x5c", token: mallory.Sign("ES256", `{"alg":"ES256","x5c":`+certificate+`}`, payload)},
		{name: "jwk of the signer, signed by the published key", token: sign(base + `,"jwk":` + string(jwk) + `}`), accepted: true},
		{name: "crit", token: sign(base + `,"crit":["exp"],"exp":1}`), differs: map[string]string{golangJWT: "it ignores crit"}},
		{name: "empty crit", token: sign(base + `,"crit":[]}`), differs: map[string]string{golangJWT: "it ignores crit", goOIDC: "go-jose takes an empty list for none"}},
		{name: "crit null", token: sign(base + `,"crit":null}`), differs: map[string]string{golangJWT: "it ignores crit", goOIDC: "go-jose takes null for none"}},
		{name: "b64", token: sign(base + `,"b64":true}`), differs: map[string]string{golangJWT: "it ignores b64", goOIDC: "go-jose accepts b64 without crit"}},
		{name: "b64 false, crit", token: sign(base + `,"b64":false,"crit":["b64"]}`), differs: map[string]string{golangJWT: "it ignores both"}},
		{name: "alg twice", token: sign(`{"alg":"ES256","alg":"none","kid":"p256"}`)}, // go-jose refuses it, the others take the last
		{name: "kid twice", token: sign(`{"alg":"ES256","kid":"p256","kid":"rsa"}`)},
		{name: "alg in another case", token: sign(`{"ALG":"ES256","kid":"p256"}`)},
		{name: "alg number", token: sign(`{"alg":1,"kid":"p256"}`)},
		{name: "alg null", token: sign(`{"alg":null,"kid":"p256"}`)},
		{name: "no alg", token: sign(`{"kid":"p256"}`)},
		{name: "kid number", token: sign(`{"alg":"ES256","kid":1}`)},
		{name: "kid null", token: sign(`{"alg":"ES256","kid":null}`), differs: map[string]string{goOIDC: "go-jose takes null for none"}},
		{name: "kid empty", token: sign(`{"alg":"ES256","kid":""}`), accepted: true},
		{name: "kid in another case", token: sign(`{"alg":"ES256","kid":"P256"}`)},
		{name: "kid with a space", token: sign(`{"alg":"ES256","kid":"p256 "}`)},
		{name: "spaces in the header", token: sign(" { \"alg\" : \"ES256\" ,\n\"kid\":\"p256\" } "), accepted: true},
		{name: "header null", token: sign(`null`)},
		{name: "header list", token: sign(`["ES256"]`)},
		{name: "header and more", token: sign(base + `}{}`)},
		{name: "header truncated", token: sign(base)},
		{name: "newline in the signature", token: newline(sign(base + `}`)), differs: both("decoders of base64 ignore newlines")},
		{name: "trailing bits", token: trailingBits(key.Sign("ES256", base+`}`, payload)), differs: both("decoders of base64 ignore them")},
		{name: "JSON serialization", token: jsonForm(sign(base + `}`)), differs: map[string]string{goOIDC: "go-jose parses this form as well"}},
	}
}

func newline(token string) string { return token[:len(token)-4] + "\n" + token[len(token)-4:] }

// trailingBits changes bits of the last character that encode nothing.
func trailingBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last|1])
}

func jsonForm(token string) string {
	parts := strings.Split(token, ".")
	return fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, parts[1], parts[0], parts[2])
}

// restricted are tokens by keys that are published for something else.
func restricted() []sample {
	onlyPS, enc := logintest.New("RSA 3", ""), logintest.New("P-256 3", "")
	return []sample{
		{name: "key for PS256, PS256", token: onlyPS.Sign("PS256", header("PS256", "only-ps"), payload), accepted: true},
		{name: "key for PS256, RS256", token: onlyPS.Sign("RS256", header("RS256", "only-ps"), payload), differs: both("neither looks at the alg of keys")},
		{name: "key for PS256, PS384, no id", token: onlyPS.Sign("PS384", header("PS384", ""), payload), differs: both("neither looks at the alg of keys")},
		{name: "key for encryption", token: enc.Sign("ES256", header("ES256", "enc"), payload), differs: both("neither looks at the use of keys")},
		{name: "key for encryption, no id", token: enc.Sign("ES256", header("ES256", ""), payload), differs: both("neither looks at the use of keys")},
	}
}

// secrets are tokens by HMAC with something that is public.
func secrets() []sample {
	key := logintest.New("RSA", "rsa")
	der, err := x509.MarshalPKIXPublicKey(key.Private.Public())
	if err != nil {
		panic(err)
	}
	jwk, err := json.Marshal(key.JWK())
	if err != nil {
		panic(err)
	}
	var all []sample
	for name, secret := range map[string][]byte{
		"PEM": key.PEM(), "PEM without its newline": key.PEM()[:len(key.PEM())-1], "DER": der, "JWK": jwk,
		"modulus": []byte(key.JWK()["n"].(string)), "nothing": nil,
	} {
		for _, kid := range []string{"rsa", ""} {
			signed := logintest.Encode([]byte(header("HS256", kid))) + "." + logintest.Encode([]byte(payload))
			mac := hmac.New(sha256.New, secret)
			mac.Write([]byte(signed))
			all = append(all, sample{name: fmt.Sprintf("HS256 with the %s, id %q", name, kid), token: signed + "." + logintest.Encode(mac.Sum(nil))})
		}
	}
	return all
}

// verifiers are the judges: go-oidc and golang-jwt with keys of their own, go-oidc with
// a [issuer.KeySet], and the set alone.
type verifiers struct {
	set       *issuer.KeySet
	reference *oidc.IDTokenVerifier
	keys      map[string]crypto.PublicKey
}

func newVerifiers(t *testing.T) *verifiers {
	t.Helper()
	p := logintest.NewProvider(t, published()...)
	client, err := provider.New(provider.Config{Name: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	v := &verifiers{set: newSet(t, p, logintest.NewClock()), keys: map[string]crypto.PublicKey{}}
	remote := oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client.HTTP()), p.URL+logintest.KeysPath)
	v.reference = oidc.NewVerifier("https://acme.example", remote, oidcConfig())
	for _, k := range published() {
		v.keys[k.ID] = k.Private.Public()
	}
	return v
}

func oidcConfig() *oidc.Config {
	return &oidc.Config{ClientID: "guidon", SkipExpiryCheck: true, SupportedSigningAlgs: issuer.DefaultAlgorithms()}
}

// naive is the usual function of golang-jwt: the key of that id, or all without one.
func (v *verifiers) naive(t *jwt.Token) (any, error) {
	id, present := t.Header["kid"]
	if name, _ := id.(string); name != "" || present && id != "" {
		if k, ok := v.keys[name]; ok {
			return k, nil
		}
		return nil, fmt.Errorf("unknown key %v", id)
	}
	var all jwt.VerificationKeySet
	for _, k := range v.keys {
		all.Keys = append(all.Keys, k)
	}
	return all, nil
}

func (v *verifiers) judge(ctx context.Context, token string) map[string]error {
	parser := jwt.NewParser(jwt.WithValidMethods(issuer.DefaultAlgorithms()))
	verdicts := map[string]error{}
	_, _, verdicts[ours] = v.set.Verify(ctx, token, issuer.MaxToken)
	_, verdicts[goOIDC] = v.reference.Verify(ctx, token)
	_, verdicts[golangJWT] = parser.Parse(token, v.naive)
	return verdicts
}

func TestAgreement(t *testing.T) {
	v := newVerifiers(t)
	all := samples()
	if len(all) < 200 {
		t.Errorf("%d tokens, want at least 200", len(all))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			verdicts := v.judge(t.Context(), s.token)
			for name, err := range verdicts {
				want := s.accepted != (s.differs[name] != "")
				if (err == nil) != want {
					t.Errorf("%s: got error %v, want it accepted: %v", name, err, want)
				}
			}
			if err := verdicts[ours]; err != nil && guidon.CodeOf(err) != guidon.Unauthenticated {
				t.Errorf("got %v with code %v, want Unauthenticated", err, guidon.CodeOf(err))
			}
		})
	}
}
