package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// signatures verifies tokens with the published keys.
type signatures struct {
	url       string // of the discovery document
	document  *issuer.Discovery
	keys      *issuer.KeySet
	audiences []string // none are the default ones
	now       func() time.Time
}

func newSignatures(c Config, client *provider.Client) (*signatures, error) {
	document, err := issuer.NewDiscovery(issuer.DiscoveryConfig{Client: client, URL: c.DiscoveryURL, KeysOnly: true, Now: c.Now})
	if err != nil {
		return nil, fmt.Errorf("invalid discovery_url: %w", err)
	}
	keys, err := issuer.RemoteKeys(issuer.KeyConfig{
		Client: client, URL: c.JWKSURL, Discovery: document, Algorithms: issuer.DefaultAlgorithms(), Now: c.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("invalid jwks_url: %w", err)
	}
	return &signatures{url: c.DiscoveryURL, document: document, keys: keys, audiences: c.Audiences, now: c.Now}, nil
}

// verify implements verifier. The claims of a were parsed from the payload whose signature
// it verifies.
func (s *signatures) verify(ctx context.Context, raw string, a *account) error {
	document, err := s.document.Document(ctx)
	if err != nil {
		return err
	}
	if err := s.check(a, document.Issuer); err != nil {
		return issuer.Refused(err)
	}
	_, err = s.keys.VerifySignature(ctx, raw)
	if errors.Is(err, guidon.Unauthenticated) {
		return issuer.Refused(err)
	}
	return err
}

// probe implements verifier.
func (s *signatures) probe(ctx context.Context) ([]string, error) {
	d, err := s.document.Document(ctx)
	if err != nil {
		return []string{s.url}, err
	}
	_, err = s.keys.Generation(ctx)
	return []string{s.url, d.JWKSURI}, err
}

// check returns an error if a token with these claims is not accepted.
func (s *signatures) check(a *account, issuer string) error {
	now := s.now()
	accepted := s.audiences
	if len(accepted) == 0 {
		accepted = []string{DefaultAudience, issuer, "https://kubernetes.default.svc", DefaultDiscoveryURL}
	}
	switch {
	case a.issuer != issuer:
		return fmt.Errorf("iss of the token is %q, want %q", provider.Printable(a.issuer), provider.Printable(issuer))
	case len(common(accepted, a.audiences)) == 0:
		return wrongAudience(a, accepted)
	case a.notBefore.After(now.Add(service.ClockSkew)):
		return fmt.Errorf("token is not valid before %s", a.notBefore.Format(time.RFC3339))
	case a.issuedAt.After(now.Add(service.ClockSkew)):
		return fmt.Errorf("token was issued at %s, which is in the future", a.issuedAt.Format(time.RFC3339))
	}
	return nil
}

// common returns the elements of a that b also has.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// wrongAudience returns the error for a token without an accepted audience.
func wrongAudience(a *account, accepted []string) error {
	return fmt.Errorf("aud of the token is %q; must contain one of %q",
		provider.Printable(strings.Join(a.audiences, " ")), provider.Printable(strings.Join(accepted, " ")))
}
