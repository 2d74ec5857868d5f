package oidc

import (
	"context"
	"crypto/subtle"
	"errors"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/guidonhq/guidon/handler/login/issuer"
)

// idToken returns the person of an ID token for the attempt with the nonce.
func (p *Provider) idToken(ctx context.Context, raw, nonce string) (person, error) {
	var who person
	accept := func(c issuer.Claims) (err error) {
		who, err = personOf(c, nonce)
		return err
	}
	err := p.verify(ctx, raw, []string{"JWT"}, accept, func(v *gooidc.IDTokenVerifier) error {
		_, err := v.Verify(ctx, raw)
		return err
	})
	return who, err
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
