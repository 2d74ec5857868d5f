package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// errRedirect does not contain the target, which may hold secrets in its query.
var errRedirect = errors.New("redirects are not followed")

// transport limits the responses of base.
type transport struct {
	base   http.RoundTripper
	bearer func() (string, error)

	name     string   // of the provider
	observer Observer // or nil
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.observer == nil {
		return t.roundTrip(r)
	}
	answered := t.observer.ProviderAsked(r.Context(), t.name, kindOf(r))
	response, err := t.roundTrip(r)
	answered(resultOf(response, err))
	return response, err
}

func (t *transport) roundTrip(r *http.Request) (*http.Response, error) {
	r, err := t.prepare(r)
	if err != nil {
		return nil, err
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		return nil, fmt.Errorf("status %d: %w", response.StatusCode, errRedirect)
	}
	response.Body = http.MaxBytesReader(nil, response.Body, MaxBody)
	return response, nil
}

// prepare returns the request for JSON, which GitHub's token endpoint would not send otherwise, and
// with the bearer token, unless it has a credential.
func (t *transport) prepare(r *http.Request) (*http.Request, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "guidon")
	if t.bearer == nil || r.Header.Get("Authorization") != "" {
		return r, nil
	}
	token, err := t.bearer()
	if err == nil && token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as RoundTripper demands
		}
		return nil, fmt.Errorf("cannot get our own token: %w", err)
	}
	return r, nil
}

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
