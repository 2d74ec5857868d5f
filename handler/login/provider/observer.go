package provider

import (
	"context"
	"net/http"
)

// Observer is notified of requests to providers. It is called concurrently.
type Observer interface {
	// ProviderExpected is called once for each combination that ProviderAsked may have.
	ProviderExpected(provider, kind, result string)
	// ProviderAsked is called once for each request, before it is sent. The provider is the
	// name of the client, and the kind one of this package. The function that it returns is
	// called with the result: "ok", "refused" for a response with an error, or "unavailable" for
	// anything else.
	ProviderAsked(ctx context.Context, provider, kind string) (answered func(result string))
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

// kindOf returns the kind of the request.
func kindOf(r *http.Request) string {
	if kind, ok := r.Context().Value(kindKey{}).(string); ok {
		return kind
	}
	return kindAPI
}

// resultOf returns the result of a request, for the observer.
func resultOf(response *http.Response, err error) string {
	switch {
	case err != nil || response.StatusCode >= http.StatusInternalServerError:
		return "unavailable"
	case response.StatusCode >= http.StatusBadRequest:
		return "refused"
	}
	return "ok"
}
