package oidc

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// Check gets the published documents of the provider, and sends the token endpoint an invalid code.
// It returns the URLs that this service must be able to reach; with an error, those that
// are known. An error has the code Internal if the provider rejects our client_id or
// client_secret.
func (p *Provider) Check(ctx context.Context) (urls []string, err error) {
	return provider.Wait(ctx, p.client, p.limit, func(ctx context.Context) ([]string, error) {
		urls := []string{p.config.Issuer}
		d, err := p.discovery.Document(ctx)
		if err != nil {
			return urls, err
		}
		urls = append(urls, d.TokenEndpoint, d.JWKSURI)
		if d.UserinfoEndpoint != "" && (p.config.Userinfo || p.config.NeedEmail || p.config.NeedGroups) {
			urls = append(urls, d.UserinfoEndpoint)
		}
		if _, err = p.keys.Generation(ctx); err != nil {
			return urls, err
		}
		return urls, p.checkClient(ctx, d)
	})
}

// checkClient returns an error unless the token endpoint accepts our credentials. It must
// authenticate the client before it rejects the code (RFC 6749 4.1.3).
func (p *Provider) checkClient(ctx context.Context, d *issuer.Document) error {
	a, err := loginstate.Begin(p.config.Now(), p.fingerprint, "")
	if err != nil {
		return err
	}
	if _, err = p.exchange(ctx, d, a, loginstate.NoCode); errors.Is(err, guidon.Unauthenticated) {
		return nil // the code was rejected
	}
	return err
}
