package oidc

import (
	"context"
	"net/url"
)

// EndSessionURL returns the URL at the provider that the browser must open to end the
// session there (OpenID Connect RP-Initiated Logout 1.0), or "" if the provider has none.
// hint identifies the account that signs out, and the browser returns to postLogout; "" leaves either out.
func (p *Provider) EndSessionURL(ctx context.Context, hint, postLogout string) (string, error) {
	var endpoint string
	err := p.wait(ctx, func(ctx context.Context) error {
		d, err := p.discovery.Document(ctx)
		if err == nil {
			endpoint = d.EndSessionEndpoint
		}
		return err
	})
	if err != nil || endpoint == "" {
		return "", err
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", p.client.Unavailable(err) // discovery has checked it
	}
	query := u.Query()
	query.Set("client_id", p.config.ClientID)
	for name, value := range map[string]string{"logout_hint": hint, "post_logout_redirect_uri": postLogout} {
		query.Del(name)
		if value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
