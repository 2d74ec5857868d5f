package provider

import (
	"context"
	"net/http"
)

// Observer is notified of requests to providers. It is called concurrently.
type Observer interface {
	// ProviderExpected is called once for each combination that ProviderAsked may have.
	ProviderExpected(provider, kind, result string)
	// ProviderAsked is called once for each request. The provider is the name of the client,
	// the kind one of this package, and the result "ok", "refused" for a response with an
	// error, or "unavailable" for anything else.
	ProviderAsked(provider, kind, result string)
}

// Kinds of requests.
const (
	KindDiscovery = "discovery"
	KindKeys      = "keys"
	KindToken     = "token"
	KindUserinfo  = "userinfo"
	KindReview    = "review"
	kindAPI       = "api" // all others
)

// expect announces all combinations of the provider to the observer.
func expect(observer Observer, provider string) {
	for _, kind := range []string{KindDiscovery, KindKeys, KindToken, KindUserinfo, KindReview, kindAPI} {
		for _, result := range []string{"ok", "refused", "unavailable"} {
			observer.ProviderExpected(provider, kind, result)
		}
	}
}

type kindKey struct{}

// WithKind returns a context for requests of the kind.
func WithKind(ctx context.Context, kind string) context.Context {
	return context.WithValue(ctx, kindKey{}, kind)
}

// observe reports the request to the observer, if there is one.
func (t *transport) observe(r *http.Request, response *http.Response, err error) {
	if t.observer == nil {
		return
	}
	kind, ok := r.Context().Value(kindKey{}).(string)
	if !ok {
		kind = kindAPI
	}
	result := "ok"
	switch {
	case err != nil || response.StatusCode >= http.StatusInternalServerError:
		result = "unavailable"
	case response.StatusCode >= http.StatusBadRequest:
		result = "refused"
	}
	t.observer.ProviderAsked(t.name, kind, result)
}
