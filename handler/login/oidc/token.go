package oidc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// verify returns an error unless the token has one of the types, the signature of the provider, and
// right claims. accept checks the claims that only this kind of token has. After that judge calls
// go-oidc, so that it judges only what has passed. go-oidc does not verify the signature again: the keys
// may be unavailable by then, which says nothing about the token.
func (p *Provider) verify(
	ctx context.Context, raw string, types []string, accept func(issuer.Claims) error, judge func(*gooidc.IDTokenVerifier) error,
) error {
	c, _, err := p.keys.Verify(ctx, raw, issuer.MaxToken, types...)
	if errors.Is(err, guidon.Unauthenticated) {
		return p.refuse("token: %w", err)
	}
	if err != nil {
		return fmt.Errorf("cannot verify the token: %w", err)
	}
	err = p.checkClaims(c, p.config.Now())
	if err == nil {
		err = accept(c)
	}
	if err != nil {
		return p.refuse("claims of the token: %w", err)
	}
	err = judge(gooidc.NewVerifier(p.config.Issuer, verified{}, &gooidc.Config{
		ClientID: p.config.ClientID, SupportedSigningAlgs: p.config.Algorithms,
		SkipExpiryCheck: true, // it grants no skew for exp, and five minutes for nbf
	}))
	if err != nil {
		return p.refuse("token: %s", provider.Printable(err.Error()))
	}
	return nil
}

// verified is a key set of go-oidc for tokens whose signature was verified before.
type verified struct{}

// VerifySignature returns the payload of the token.
func (verified) VerifySignature(_ context.Context, raw string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
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
