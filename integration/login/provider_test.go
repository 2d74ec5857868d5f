package login

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// provider is an OpenID provider under the name that the service knows it by.
type provider struct {
	*logintest.Provider
	*logintest.Flow
	name      string
	verifiers []string // of the exchanges so far
}

// clientSecret is that of all providers.
const clientSecret = "client secret +/%" // #nosec G101 -- for tests

// newProvider starts a provider, which ends with the test.
func newProvider(t *testing.T, name string) *provider {
	t.Helper()
	key := logintest.New("P-256 "+name, "key-of-"+name)
	p := &provider{Provider: logintest.NewProvider(t, key), name: name}
	p.Flow = logintest.NewFlow(p.Provider, key, time.Now)
	members := p.discovery()
	p.Publish(logintest.DiscoveryPath, members)
	p.Publish(logintest.UserinfoPath, map[string]any{"sub": "ada"})
	next := p.Serve(logintest.TokenPath, nil)
	p.Serve(logintest.TokenPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		p.verifiers = append(p.verifiers, form.Get("code_verifier"))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
	p.as(nil)
	return p
}

// discovery returns the members of the discovery document.
func (p *provider) discovery() map[string]any {
	members := p.Discovery()
	members["userinfo_endpoint"] = p.URL + logintest.UserinfoPath
	members["end_session_endpoint"] = p.URL + "/end?fixed=1"
	return members
}

// as makes the provider vouch for a person with the claims besides the standard ones.
func (p *provider) as(claims map[string]any) {
	all := map[string]any{"email": p.name + ".ada@corp.example", "email_verified": true, "name": "Ada Lovelace"}
	maps.Copy(all, claims)
	p.Claims = all
}

// settings returns the settings for the provider, which admits everyone, and further ones
// such as "LOGOUT=provider".
func (p *provider) settings(more ...string) []string {
	prefix := "AUTHENTICATION_METHODS_OIDC_PROVIDERS_" + strings.ToUpper(p.name) + "_"
	all := []string{"AUTHENTICATION_METHODS_OIDC_ENABLED=true"}
	for _, s := range append([]string{"ISSUER_URL=" + p.URL, "CLIENT_ID=guidon", "CLIENT_SECRET=" + clientSecret, "ALLOW_EVERYONE=true"}, more...) {
		all = append(all, prefix+s)
	}
	return all
}

// failing answers the path with another handler while do runs.
func (p *provider) failing(path string, h http.Handler, do func()) {
	old := p.Serve(path, h)
	defer p.Serve(path, old)
	do()
}

// answering responds with the JSON of what f returns.
func answering(f func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, asJSON(f()))
	}
}
