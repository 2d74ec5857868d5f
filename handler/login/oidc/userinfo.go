package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// incomplete returns an error that names the needed claims which the provider has not sent,
// or nil if there are none.
func (p *Provider) incomplete(who person) error {
	names := p.missing(who)
	switch {
	case len(names) == 0:
		return nil
	case who.infoErr != nil:
		return who.infoErr
	}
	return fmt.Errorf(
		"the provider sent no claim %s, neither in the ID token nor by userinfo; check scopes, groups_claim, and which claims it gives this client",
		strings.Join(names, ", "))
}

// missing returns the names of the needed claims that the provider has not sent. Providers
// may return the claims of scopes only by userinfo (OpenID Connect Core 1.0 5.4).
func (p *Provider) missing(who person) []string {
	var names []string
	if p.config.NeedEmail {
		switch {
		case who.text("email") == "":
			names = append(names, "email")
		case !p.config.TrustUnverifiedEmail && !who.token.Has("email_verified") && !who.info.Has("email_verified"):
			names = append(names, "email_verified")
		}
	}
	if p.config.NeedGroups && who.lookup(p.groups) == nil {
		names = append(names, string(p.groups))
	}
	return names
}

// userinfo returns the claims of the userinfo endpoint (OpenID Connect Core 1.0 5.3),
// which must be about the subject of the ID token.
func (p *Provider) userinfo(ctx context.Context, d *issuer.Document, tokens *oauth2.Token, sub string) (issuer.Claims, error) {
	switch {
	case d.UserinfoEndpoint == "":
		return nil, p.client.Unavailable(errors.New("userinfo is configured, but the discovery document has no userinfo_endpoint"))
	case !strings.EqualFold(tokens.TokenType, "Bearer"):
		return nil, p.client.Unavailable(fmt.Errorf("token_type is %q; userinfo needs Bearer", provider.Printable(tokens.TokenType)))
	}
	response, err := p.client.Do(provider.WithKind(ctx, provider.KindUserinfo),
		provider.Request{URL: d.UserinfoEndpoint, Bearer: tokens.AccessToken})
	if err != nil {
		return nil, p.userinfoError(err)
	}
	info, err := issuer.ParseClaims(response.Body)
	if err != nil {
		return nil, p.client.Unavailable(p.client.Failure(d.UserinfoEndpoint, 0, "", err))
	}
	if got, err := info.Text("sub"); err != nil || got != sub {
		return nil, p.refuse("the userinfo endpoint did not return the sub of the ID token")
	}
	return info, nil
}

// userinfoError classifies an error of the client. An endpoint that rejects the new access
// token does not vouch for the person.
func (p *Provider) userinfoError(err error) error {
	failure, ok := err.(*provider.Failure)
	switch {
	case !ok || failure.Err != nil: // Unavailable already, or the end of the context
		return err
	case failure.Status == http.StatusUnauthorized, failure.Status == http.StatusForbidden:
		return p.refuse("the userinfo endpoint rejected the access token: %w", failure)
	}
	return p.client.Unavailable(failure)
}
