package oidc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// token is a token that is being verified. It is the KeySet of go-oidc for that token:
// after the signature it checks the claims, so that go-oidc judges only what has passed.
type token struct {
	provider *Provider
	raw      string
	types    []string                  // that typ may be
	accept   func(issuer.Claims) error // checks the claims that only this kind of token has
	accepted bool
	err      error
}

// verify returns an error unless the token is accepted by us and by go-oidc, which judge
// calls.
func (t *token) verify(judge func(*gooidc.IDTokenVerifier) error) error {
	p := t.provider
	if err := issuer.CheckType(t.raw, t.types...); err != nil {
		return p.refuse("token: %w", err)
	}
	err := judge(gooidc.NewVerifier(p.config.Issuer, t, &gooidc.Config{
		ClientID: p.config.ClientID, SupportedSigningAlgs: p.keys.Algorithms(),
		SkipExpiryCheck: true, // it grants no skew for exp, and five minutes for nbf
	}))
	switch {
	case t.err != nil:
		return t.err
	case err != nil:
		return p.refuse("token: %s", provider.Printable(err.Error()))
	case !t.accepted:
		return p.refuse("token: the signature was not verified")
	}
	return nil
}

// VerifySignature implements KeySet of go-oidc. It keeps its error, which go-oidc returns
// as text only.
func (t *token) VerifySignature(ctx context.Context, _ string) ([]byte, error) {
	payload, err := t.provider.keys.VerifySignature(ctx, t.raw)
	switch {
	case guidon.CodeOf(err) == guidon.Unauthenticated:
		t.err = t.provider.refuse("token: %w", err)
	case err != nil:
		t.err = fmt.Errorf("cannot verify the token: %w", err)
	default:
		t.err = t.judge(payload)
	}
	t.accepted = t.err == nil
	return payload, t.err
}

// judge checks the claims of a token that the provider has signed.
func (t *token) judge(payload []byte) error {
	c, err := issuer.ParseClaims(payload)
	if err == nil {
		err = t.provider.checkClaims(c, t.provider.config.Now())
	}
	if err == nil {
		err = t.accept(c)
	}
	if err != nil {
		return t.provider.refuse("claims of the token: %w", err)
	}
	return nil
}

// checkClaims checks the claims that ID tokens and logout tokens share (OpenID Connect Core
// 1.0 3.1.3.7). go-oidc takes accounts.google.com for Google's issuer, ignores azp,
// and accepts strings for times.
func (p *Provider) checkClaims(c issuer.Claims, now time.Time) error {
	issuer, err := c.Text("iss")
	if err != nil {
		return err
	}
	if issuer != p.config.Issuer {
		return fmt.Errorf("iss is %q, want %q", provider.Printable(issuer), p.config.Issuer)
	}
	if err := p.checkAudience(c); err != nil {
		return err
	}
	for _, name := range []string{"exp", "iat"} {
		if !c.Has(name) {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return c.CheckTimes(now)
}

// checkAudience returns an error unless the token is for us, and not only among others.
func (p *Provider) checkAudience(c issuer.Claims) error {
	audience, err := c.Audience()
	if err != nil {
		return err
	}
	if !slices.Contains(audience, p.config.ClientID) {
		return errors.New("aud does not contain our client id")
	}
	others := slices.ContainsFunc(audience, func(a string) bool { return a != p.config.ClientID })
	party, err := c.Text("azp")
	if err != nil {
		return err
	}
	if (others || c.Has("azp")) && party != p.config.ClientID {
		return errors.New("azp is not our client id")
	}
	return nil
}

// subjectOf returns the claim sub, which identifies a person at this provider.
func subjectOf(c issuer.Claims) (string, error) { return nameOf(c, "sub") }

// nameOf returns the string of that name, which must be there.
func nameOf(c issuer.Claims, name string) (string, error) {
	text, err := c.Text(name)
	if err == nil && !issuer.IsName(text) {
		err = fmt.Errorf("%s must have 1 to %d characters, and no control characters", name, issuer.MaxClaim)
	}
	return text, err
}

// sessionOf returns the claim sid, or "" if there is none. One that cannot be used is an
// error: a logout would not find its sessions.
func sessionOf(c issuer.Claims) (string, error) {
	if !c.Has("sid") {
		return "", nil
	}
	return nameOf(c, "sid")
}
