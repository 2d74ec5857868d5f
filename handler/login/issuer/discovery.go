package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon/handler/login/provider"
)

const wellKnown = "/.well-known/openid-configuration"

// Document returns the discovery document, which must not be modified. If there is none
// that can be used, the error is Unavailable, or that of ctx if it ends first.
func (s *KeySet) Document(ctx context.Context) (*Document, error) {
	v, err := s.document.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot get the discovery document: %w", err)
	}
	return v.Value, nil
}

// discover fetches the document.
func (c Config) discover(ctx context.Context) (*Document, error) {
	d := new(Document)
	if err := c.Client.Document(provider.WithKind(ctx, provider.KindDiscovery), strings.TrimSuffix(c.base(), "/")+wellKnown, d); err != nil {
		return nil, err
	}
	if err := d.check(c); err != nil {
		return nil, c.Client.Unavailable(err)
	}
	return d, nil
}

// Document holds the members of a discovery document that signing in uses.
type Document struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	UserinfoEndpoint      string   `json:"userinfo_endpoint"`
	EndSessionEndpoint    string   `json:"end_session_endpoint"`
	JWKSURI               string   `json:"jwks_uri"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	// ReturnsIssuer reports whether authorization responses have the parameter iss
	// (RFC 9207).
	ReturnsIssuer bool `json:"authorization_response_iss_parameter_supported"`
}

// Endpoint returns the endpoints for golang.org/x/oauth2, with the way in which the
// client authenticates itself, so that it is not found by trial: client_secret_basic if
// the provider supports it. It returns an error if the provider supports no way that a
// client with a secret, or without one, can use.
func (d *Document) Endpoint(secret bool) (oauth2.Endpoint, error) {
	style, err := d.authStyle(secret)
	if err != nil {
		return oauth2.Endpoint{}, err
	}
	return oauth2.Endpoint{AuthURL: d.AuthorizationEndpoint, TokenURL: d.TokenEndpoint, AuthStyle: style}, nil
}

func (d *Document) authStyle(secret bool) (oauth2.AuthStyle, error) {
	const basic, post = "client_secret_basic", "client_secret_post"
	switch {
	case !secret: // many providers do not list "none"
		return oauth2.AuthStyleInParams, nil
	case len(d.TokenAuthMethods) == 0, slices.Contains(d.TokenAuthMethods, basic):
		return oauth2.AuthStyleInHeader, nil
	case slices.Contains(d.TokenAuthMethods, post):
		return oauth2.AuthStyleInParams, nil
	}
	listed := provider.Printable(strings.Join(d.TokenAuthMethods, ", "))
	return 0, fmt.Errorf("no supported client authentication: the provider has %s; need %s or %s", listed, basic, post)
}

// check returns an error if the document cannot be used.
func (d *Document) check(c Config) error {
	if c.Issuer != "" && d.Issuer != c.Issuer {
		return fmt.Errorf("issuer of the discovery document is %q, want %q; even a trailing slash must match",
			provider.Printable(d.Issuer), c.Issuer)
	}
	endpoints := []struct {
		name, url string
		required  bool
	}{
		{"jwks_uri", d.JWKSURI, true},
		{"authorization_endpoint", d.AuthorizationEndpoint, true},
		{"token_endpoint", d.TokenEndpoint, true},
		{"userinfo_endpoint", d.UserinfoEndpoint, false},
		{"end_session_endpoint", d.EndSessionEndpoint, false},
	}
	if c.KeysOnly {
		endpoints = endpoints[:1]
	}
	var problems []error
	if d.Issuer == "" {
		problems = append(problems, errors.New("the discovery document has no issuer"))
	}
	for _, e := range endpoints {
		if e.url == "" && !e.required {
			continue
		}
		if err := provider.CheckURL(e.url, provider.IsLocalHTTP(c.base())); err != nil {
			problems = append(problems, fmt.Errorf("invalid %s %q in the discovery document: %w", e.name, provider.Printable(e.url), err))
		}
	}
	return errors.Join(problems...)
}
