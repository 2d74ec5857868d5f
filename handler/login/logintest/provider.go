// Package logintest has providers and an API server of Kubernetes for tests, which run on
// a loopback address and misbehave on command, and keys that sign tokens.
package logintest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// The paths at which a [Provider] has its documents.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeysPath      = "/keys"
)

// Provider is an OpenID provider. Its methods are safe for concurrent use.
type Provider struct {
	*httptest.Server

	mu       sync.Mutex
	handlers map[string]http.Handler
	requests map[string]int
}

// NewProvider starts a provider, which ends with the test. It has a discovery document,
// and the keys.
func NewProvider(t testing.TB, keys ...*Key) *Provider {
	t.Helper()
	p := &Provider{handlers: map[string]http.Handler{}, requests: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.CloseClientConnections() // of requests that hang
		p.Close()
	})
	p.Publish(DiscoveryPath, p.Discovery())
	p.PublishKeys(keys...)
	return p
}

// ServeHTTP implements [http.Handler].
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	handler := p.handlers[r.URL.Path]
	p.requests[r.URL.Path]++
	p.mu.Unlock()
	if handler == nil {
		handler = http.NotFoundHandler()
	}
	handler.ServeHTTP(w, r)
}

// Discovery returns the members of the discovery document.
func (p *Provider) Discovery() map[string]any {
	return map[string]any{
		"issuer":                 p.URL,
		"authorization_endpoint": p.URL + "/authorize",
		"token_endpoint":         p.URL + "/token",
		"jwks_uri":               p.URL + KeysPath,
	}
}

// Serve answers the path with the handler from now on, and returns the one before.
func (p *Provider) Serve(path string, h http.Handler) (old http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old = p.handlers[path]
	p.handlers[path] = h
	return old
}

// Publish answers the path with the JSON of the value from now on.
func (p *Provider) Publish(path string, value any) {
	p.Serve(path, write("application/json", text(value)))
}

// PublishKeys publishes the keys instead of those before.
func (p *Provider) PublishKeys(keys ...*Key) {
	jwks := []any{}
	for _, k := range keys {
		jwks = append(jwks, k.JWK())
	}
	p.Publish(KeysPath, map[string]any{"keys": jwks})
}

// Requests returns how many requests the path has had.
func (p *Provider) Requests(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}
