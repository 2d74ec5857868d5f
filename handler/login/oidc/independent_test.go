package oidc_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
)

// TestIndependentProvider: discovery document, key set and ID tokens may be those that
// go-oidc and go-jose write, by the real clock.
func TestIndependentProvider(t *testing.T) {
	for kind, algorithm := range map[string]string{"RSA": gooidc.RS256, "P-256": gooidc.ES256} {
		t.Run(algorithm, func(t *testing.T) {
			key := logintest.New(kind, "")
			remote := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Private.Public(), KeyID: "k", Algorithm: algorithm}}}
			mux := http.NewServeMux()
			mux.Handle("/", remote)
			server := httptest.NewServer(mux)
			defer server.Close()
			remote.SetIssuer(server.URL)

			p, err := oidc.New(oidc.Config{Name: "acme", Issuer: server.URL, ClientID: "guidon", RedirectURI: redirectURI, PKCE: true})
			if err != nil {
				t.Fatal(err)
			}
			a, err := loginstate.Begin(time.Now(), p.Fingerprint(), "/")
			if err != nil {
				t.Fatal(err)
			}
			authorize, err := p.AuthorizeURL(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(authorize)
			if err != nil {
				t.Fatal(err)
			}
			mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
				idToken := oidctest.SignIDToken(key.Private, "k", algorithm, members(map[string]any{
					"iss": server.URL, "aud": "guidon", "sub": "ada", "nonce": u.Query().Get("nonce"),
					"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
				}, ""))
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]string{"access_token": "x", "token_type": "Bearer", "id_token": idToken})
			})
			identity, err := p.Identify(t.Context(), a, "code")
			if err != nil || identity.Subject != "oidc:acme:sub:ada" {
				t.Errorf("got %v and error %v, want ada", identity, err)
			}
		})
	}
}
