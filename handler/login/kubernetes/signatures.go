package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// signatures verifies tokens with the published keys.
type signatures struct {
	keys      *issuer.KeySet
	audiences []string // none are the default ones
	now       func() time.Time
}

// verify implements verifier. The claims of a were parsed from the payload whose signature
// it verifies.
func (s *signatures) verify(ctx context.Context, raw string, a *account) error {
	document, err := s.keys.Document(ctx)
	if err != nil {
		return err
	}
	if err := s.check(a, document.Issuer); err != nil {
		return issuer.Refused(err)
	}
	c, _, err := s.keys.Verify(ctx, raw, maxToken, tokenType)
	if err != nil {
		return err
	}
	if err := c.CheckTimes(s.now()); err != nil {
		return issuer.Refused(err)
	}
	return nil
}

// probe implements verifier.
func (s *signatures) probe(ctx context.Context) ([]string, error) { return s.keys.Check(ctx) }

// check returns an error if a token with these claims is not accepted.
func (s *signatures) check(a *account, issuer string) error {
	accepted := s.audiences
	if len(accepted) == 0 {
		accepted = []string{DefaultAudience, issuer, "https://kubernetes.default.svc", DefaultDiscoveryURL}
	}
	switch {
	case a.issuer != issuer:
		return fmt.Errorf("iss of the token is %q, want %q", provider.Printable(a.issuer), provider.Printable(issuer))
	case len(common(accepted, a.audiences)) == 0:
		return wrongAudience(a, accepted)
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
