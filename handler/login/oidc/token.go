package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// verify returns what accept makes of the claims of a token. It returns an error unless the token
// has one of the types, the signature of the provider, and right claims. accept checks the claims
// that only this kind of token has.
func verify[T any](
	ctx context.Context, p *Provider, raw string, accept func(issuer.Claims) (T, error), types ...string,
) (accepted T, err error) {
	if err := issuer.CheckType(raw, types...); err != nil {
		return accepted, p.refuse("token: %w", err)
	}
	payload, err := p.keys.VerifySignature(ctx, raw)
	if errors.Is(err, guidon.Unauthenticated) {
		return accepted, p.refuse("token: %w", err)
	}
	if err != nil {
		return accepted, fmt.Errorf("cannot verify the token: %w", err)
	}
	c, err := issuer.ParseClaims(payload)
	if err == nil {
		err = p.checkClaims(c, p.config.Now())
	}
	if err == nil {
		accepted, err = accept(c)
	}
	if err != nil {
		return accepted, p.refuse("claims of the token: %w", err)
	}
	return accepted, nil
}

// checkClaims checks the claims that ID tokens and logout tokens share (OpenID Connect Core
// 1.0 3.1.3.7). go-oidc would take accounts.google.com for Google's issuer, ignore azp, and
// accept strings for times.
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

// idToken returns the person of an ID token for the attempt with the nonce.
func (p *Provider) idToken(ctx context.Context, raw, nonce string) (person, error) {
	return verify(ctx, p, raw, func(c issuer.Claims) (person, error) { return personOf(c, nonce) }, "JWT")
}

// personOf checks the claims that only ID tokens have, and returns the person.
func personOf(c issuer.Claims, nonce string) (person, error) {
	if err := checkNonce(c, nonce); err != nil {
		return person{}, err
	}
	sub, err := subjectOf(c)
	if err != nil {
		return person{}, err
	}
	session, err := sessionOf(c)
	if err != nil {
		return person{}, err
	}
	return person{sub: sub, session: session, token: c}, nil
}

// checkNonce returns an error unless the token is for the attempt with that nonce.
func checkNonce(c issuer.Claims, want string) error {
	nonce, err := c.Text("nonce")
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(nonce), []byte(want)) != 1 {
		return errors.New("nonce is missing or not that of the attempt")
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
