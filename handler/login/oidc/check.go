package oidc

import "context"

// Check gets what the provider publishes, and returns the URLs that this service must be
// able to reach. With an error they are those that are known.
func (p *Provider) Check(ctx context.Context) (urls []string, err error) {
	urls = []string{p.config.Issuer}
	err = p.wait(ctx, func(ctx context.Context) error {
		d, err := p.discovery.Document(ctx)
		if err != nil {
			return err
		}
		urls = append(urls, d.TokenEndpoint, d.JWKSURI)
		if p.config.Userinfo && d.UserinfoEndpoint != "" {
			urls = append(urls, d.UserinfoEndpoint)
		}
		_, err = p.keys.Generation(ctx)
		return err
	})
	return urls, err
}
