package oidc

import (
	"context"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/loginstate"
)

// AuthorizeURL returns the URL at the provider that the browser must open for the attempt.
func (p *Provider) AuthorizeURL(ctx context.Context, a *loginstate.Attempt) (string, error) {
	d, err := p.document(ctx)
	if err != nil {
		return "", err
	}
	config, err := p.oauth(d)
	if err != nil {
		return "", err
	}
	return config.AuthCodeURL(a.State(), p.options(a)...), nil
}

// options returns the parameters of the authorization request besides those of OAuth.
func (p *Provider) options(a *loginstate.Attempt) []oauth2.AuthCodeOption {
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("nonce", a.Nonce())}
	if p.config.PKCE {
		options = append(options, oauth2.S256ChallengeOption(a.Verifier()))
	}
	for name, value := range p.config.AuthorizeParams {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return options
}

// oauth returns the client of golang.org/x/oauth2 for the document.
func (p *Provider) oauth(d *issuer.Document) (*oauth2.Config, error) {
	endpoint, err := d.Endpoint(p.config.ClientSecret != "")
	if err != nil {
		return nil, p.client.Unavailable(err)
	}
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: endpoint,
		RedirectURL: p.config.RedirectURI, Scopes: p.config.Scopes,
	}, nil
}

// CheckIssuer returns Unauthenticated unless the authorization response is from this
// provider (RFC 9207). issuer is its parameter iss: "" for none is allowed if the provider does
// not announce that it sends it. It must be called before anything else in the response is used.
func (p *Provider) CheckIssuer(ctx context.Context, issuer string) error {
	switch issuer {
	case p.config.Issuer:
		return nil
	case "":
	default:
		return p.refuse("the authorization response is from another issuer than %s", p.config.Issuer)
	}
	d, err := p.document(ctx)
	if err == nil && d.ReturnsIssuer {
		err = p.refuse("the authorization response has no parameter iss, although the provider sends it")
	}
	return err
}
