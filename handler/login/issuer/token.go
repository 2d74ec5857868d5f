package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// MaxToken is the maximum length of a token in bytes.
const MaxToken = 64 << 10

// Refused returns the error for a token that is not accepted because of the cause. It is the
// same for clients whatever the cause: only logs contain it.
func Refused(cause error) error {
	return &guidon.Error{Code: guidon.Unauthenticated, Message: guidon.PublicMessage(service.ErrUnauthenticated), Err: cause}
}

func invalid(format string, args ...any) error { return Refused(fmt.Errorf(format, args...)) }

// payload has the claims of a token for golang-jwt, which otherwise ignores what follows them.
type payload struct{ jwt.MapClaims }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *payload) UnmarshalJSON(text []byte) error {
	c, err := ParseClaims(text)
	p.MapClaims = jwt.MapClaims(c)
	return err
}

// Unverified returns the claims of the token, which it does not verify. It returns an error if the token
// has more than most bytes, or a type but none of the given ones, so that one kind of token is not
// mistaken for another (RFC 8725 3.11). Without given types it may have any.
func Unverified(raw string, most int, types ...string) (Claims, error) {
	if err := checkForm(raw, most); err != nil {
		return nil, Refused(err)
	}
	var p payload
	t, _, err := jwt.NewParser(jwt.WithStrictDecoding()).ParseUnverified(raw, &p)
	if err == nil {
		err = checkHeader(t.Header, types)
	}
	if err != nil {
		return nil, Refused(err)
	}
	return Claims(p.MapClaims), nil
}

// Verify verifies the signature of the token, and what [Unverified] does. It returns the claims, which
// it does not check, and the generation of the keys.
func (s *KeySet) Verify(ctx context.Context, raw string, most int, types ...string) (_ Claims, generation uint64, err error) {
	if err := checkForm(raw, most); err != nil {
		return nil, 0, Refused(err)
	}
	var p payload
	var withoutKeys error // which may be that they cannot be fetched
	parser := jwt.NewParser(jwt.WithValidMethods(s.config.Algorithms), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
	_, err = parser.ParseWithClaims(raw, &p, func(t *jwt.Token) (any, error) {
		if err := checkHeader(t.Header, types); err != nil {
			return nil, err
		}
		var found jwt.VerificationKeySet
		found, generation, withoutKeys = s.candidates(ctx, t)
		return found, withoutKeys
	})
	switch {
	case withoutKeys != nil:
		return nil, 0, withoutKeys
	case err != nil:
		return nil, 0, Refused(err)
	}
	return Claims(p.MapClaims), generation, nil
}

// checkForm returns an error for a token that is too long, or has newlines, which decoders ignore: the
// same token must not have many forms.
func checkForm(raw string, most int) error {
	switch {
	case len(raw) > most:
		return fmt.Errorf("token of %d bytes; at most %d are allowed", len(raw), most)
	case strings.ContainsAny(raw, "\r\n"):
		return errors.New("token has a newline")
	}
	return nil
}

// checkHeader returns an error if the header has what golang-jwt ignores but must not, or another type
// than the given ones. The members jwk, jku, x5u and x5c, by which a token could bring its own key, are
// ignored.
func checkHeader(header Claims, types []string) error {
	for _, name := range []string{"crit", "b64"} { // b64 is nothing without crit
		if header.Has(name) {
			return fmt.Errorf("header of the token: %s is not supported", name)
		}
	}
	texts := map[string]string{}
	for _, name := range []string{"alg", "kid", "typ"} {
		text, err := header.Text(name)
		if err != nil {
			return fmt.Errorf("header of the token: %w", err)
		}
		texts[name] = text
	}
	if alg := texts["alg"]; !slices.Contains(algorithms, alg) { // those of golang-jwt include none and HMAC
		return fmt.Errorf("algorithm of the token is %q; must be one of %s", provider.Printable(alg), strings.Join(algorithms, ", "))
	}
	kind := texts["typ"]
	if kind != "" && len(types) > 0 && !slices.ContainsFunc(types, func(other string) bool { return strings.EqualFold(other, kind) }) {
		return fmt.Errorf("typ of the token is %q; must be %s or absent", provider.Printable(kind), strings.Join(types, ", "))
	}
	return nil
}
