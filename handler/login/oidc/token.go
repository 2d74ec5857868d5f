package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/guidonhq/guidon/handler/login/claims"
	"github.com/guidonhq/guidon/handler/login/keyset"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// verified is a token of which go-oidc has verified the signature, the issuer and the
// audience.
type verified interface{ Claims(v any) error }

// idToken returns the claims of an ID token that is meant for us and for the attempt with
// the nonce.
func (p *Provider) idToken(ctx context.Context, raw, nonce string) (claims.Object, error) {
	verify := func(ctx context.Context, v *gooidc.IDTokenVerifier) (verified, error) { return v.Verify(ctx, raw) }
	c, err := p.token(ctx, raw, verify, "JWT")
	if err != nil {
		return nil, err
	}
	if err := checkNonce(c, nonce); err != nil {
		return nil, p.refuse("ID token: %w", err)
	}
	return c, nil
}

// token returns the claims of a token of one of the types, which verify verifies. It
// checks what ID tokens and logout tokens have in common (OpenID Connect Core 1.0
// 3.1.3.7), times included: go-oidc grants nothing for exp and five minutes for nbf.
func (p *Provider) token(
	ctx context.Context, raw string, verify func(context.Context, *gooidc.IDTokenVerifier) (verified, error), types ...string,
) (claims.Object, error) {
	if err := checkType(raw, types); err != nil {
		return nil, p.refuse("token: %w", err)
	}
	keys := p.keys.Verification()
	token, err := verify(ctx, gooidc.NewVerifier(p.config.Issuer, keys, &gooidc.Config{
		ClientID: p.config.ClientID, SupportedSigningAlgs: p.keys.Algorithms(), SkipExpiryCheck: true,
	}))
	switch {
	case keys.Err() != nil:
		return nil, p.verificationError(keys.Err())
	case err != nil:
		return nil, p.refuse("token: %s", provider.Printable(err.Error()))
	}
	var payload json.RawMessage
	if err := token.Claims(&payload); err != nil {
		return nil, p.refuse("token: malformed claims")
	}
	c, err := claims.Parse(payload)
	if err != nil {
		return nil, p.refuse("token: claims: %w", err)
	}
	if err := p.checkClaims(c, p.config.Now()); err != nil {
		return nil, p.refuse("token: %w", err)
	}
	return c, nil
}

// checkClaims checks issuer, audience and times. go-oidc takes accounts.google.com for
// Google's issuer, does not look at azp, and takes strings for times.
func (p *Provider) checkClaims(c claims.Object, now time.Time) error {
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
func (p *Provider) checkAudience(c claims.Object) error {
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

// checkNonce returns an error unless the token is for the attempt with that nonce.
func checkNonce(c claims.Object, want string) error {
	nonce, err := c.Text("nonce")
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(nonce), []byte(want)) != 1 {
		return errors.New("nonce is missing or not that of the attempt")
	}
	return nil
}

// checkType returns an error unless the token has one of the types, or none, so that a
// token for another purpose is not accepted (RFC 8725 3.12).
func checkType(raw string, types []string) error {
	kind, err := keyset.Type(raw)
	if err != nil {
		return err
	}
	if kind != "" && !slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, kind) }) {
		return fmt.Errorf("typ is %q, want %s", provider.Printable(kind), strings.Join(types, " or "))
	}
	return nil
}

// subjectOf returns the claim sub, which says who somebody is at this provider.
func subjectOf(c claims.Object) (string, error) { return nameOf(c, "sub") }

// nameOf returns the string of that name, which must be there.
func nameOf(c claims.Object, name string) (string, error) {
	text, err := c.Text(name)
	if err == nil && !claims.IsName(text) {
		err = fmt.Errorf("%s must have 1 to %d characters, and no control characters", name, claims.MaxText)
	}
	return text, err
}

// sessionOf returns the claim sid, or "" if there is none. One that cannot be used is an
// error: a logout would not find its sessions.
func sessionOf(c claims.Object) (string, error) {
	if !c.Has("sid") {
		return "", nil
	}
	return nameOf(c, "sid")
}
