package provider

import (
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
	r, err := t.authorize(r)
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

// authorize returns the request with the bearer token, unless it has a credential.
func (t *transport) authorize(r *http.Request) (*http.Request, error) {
	if t.bearer == nil || r.Header.Get("Authorization") != "" {
		return r, nil
	}
	token, err := t.bearer()
	if err == nil && token != "" {
		r = r.Clone(r.Context())
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
