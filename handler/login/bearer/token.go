package bearer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/claimset"
	"github.com/guidonhq/guidon/handler/login/keyset"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// checkForm returns an error if the token is too large, malformed or of another kind. It
// needs no keys.
func checkForm(raw string) error {
	if len(raw) > maxToken {
		return fmt.Errorf("token of %d bytes; at most %d are allowed", len(raw), maxToken)
	}
	kind, err := keyset.Type(raw)
	if err != nil {
		return err
	}
	switch strings.ToLower(kind) { // RFC 7515 4.1.9
	case "", "jwt", "application/jwt", "at+jwt", "application/at+jwt":
		return nil
	}
	return fmt.Errorf("typ of the token is %q; must be JWT, at+jwt or absent", provider.Printable(kind))
}

// accept returns the identity of a token whose signature is valid. It returns an error if
// its claims do not have the issuer, or break another rule.
func (v *Verifier) accept(payload []byte, issuer string) (*service.Identity, error) {
	claims, err := claimset.Parse(payload)
	if err != nil {
		return nil, err
	}
	expires, err := checkTimes(claims, v.config.Now())
	if err != nil {
		return nil, err
	}
	if err := checkIssuer(claims, issuer); err != nil {
		return nil, err
	}
	if err := v.checkAudience(claims); err != nil {
		return nil, err
	}
	subject, err := v.subject(claims)
	if err != nil {
		return nil, err
	}
	return v.identity(claims, subject, expires), nil
}

// checkTimes returns when the token expires, and an error if it is not valid now.
func checkTimes(c claimset.Set, now time.Time) (time.Time, error) {
	exp, errExp := c.Time("exp")
	nbf, errNBF := c.Time("nbf")
	iat, errIAT := c.Time("iat")
	if err := errors.Join(errExp, errNBF, errIAT); err != nil {
		return time.Time{}, err
	}
	switch {
	case !exp.IsZero():
	case !iat.IsZero():
		exp = iat.Add(defaultLifetime)
	case !nbf.IsZero():
		exp = nbf.Add(defaultLifetime)
	default:
		return time.Time{}, errors.New("token has none of exp, nbf and iat")
	}
	switch {
	case !now.Before(exp.Add(skew)):
		return time.Time{}, fmt.Errorf("token expired at %s", exp.Format(time.RFC3339))
	case nbf.After(now.Add(skew)):
		return time.Time{}, fmt.Errorf("token is not valid before %s", nbf.Format(time.RFC3339))
	case iat.After(now.Add(skew)):
		return time.Time{}, fmt.Errorf("token was issued at %s, which is in the future", iat.Format(time.RFC3339))
	}
	return exp, nil
}

// checkIssuer returns an error if iss is not the required one. If want is empty, it may be
// anything.
func checkIssuer(c claimset.Set, want string) error {
	got, err := c.String("iss")
	if err != nil {
		return err
	}
	if want != "" && got != want {
		return fmt.Errorf("iss of the token is %q, want %q", provider.Printable(got), provider.Printable(want))
	}
	return nil
}

// checkAudience returns an error if aud has none of the required audiences.
func (v *Verifier) checkAudience(c claimset.Set) error {
	got, err := c.Audiences()
	if err != nil {
		return err
	}
	wanted := func(audience string) bool { return slices.Contains(v.config.Audiences, audience) }
	if !v.config.AnyAudience && !slices.ContainsFunc(got, wanted) {
		return fmt.Errorf("aud of the token is %q; must contain one of %q", provider.Printable(strings.Join(got, " ")), v.config.Audiences)
	}
	return nil
}

// maxSubject is the maximum length of sub in characters (RFC 7519 does not limit it).
const maxSubject = 255

// subject returns sub, or "" for a token without it, unless the configuration requires it.
func (v *Verifier) subject(c claimset.Set) (string, error) {
	sub, err := c.String("sub")
	switch {
	case err != nil:
		return "", err
	case c.Has("sub") && !claimset.Plain(sub, maxSubject):
		return "", fmt.Errorf("sub of the token must have 1 to %d characters, without control characters", maxSubject)
	case v.config.Subject != "" && sub != v.config.Subject:
		return "", fmt.Errorf("sub of the token is %q, want %q", provider.Printable(sub), v.config.Subject)
	}
	return sub, nil
}
