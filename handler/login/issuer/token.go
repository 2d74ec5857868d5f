package issuer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// MaxToken is the maximum length of a token in bytes.
const MaxToken = 64 << 10

// token is a signed token in the compact form (RFC 7515).
type token struct {
	algorithm string
	keyID     string // "" for none
	kind      string // of the token, "" for none
	signed    string // the part that the signature is of
	payload   []byte
	signature []byte
}

// Refused returns the error for a token that is not accepted because of the cause. It is the
// same for clients whatever the cause: only logs contain it.
func Refused(cause error) error {
	return &guidon.Error{Code: guidon.Unauthenticated, Message: guidon.PublicMessage(service.ErrUnauthenticated), Err: cause}
}

func invalid(format string, args ...any) error { return Refused(fmt.Errorf(format, args...)) }

// Unverified returns the payload of the token, which it does not verify. It returns an error if the token has
// more than most bytes, or a type but none of the given ones, so that one kind of token is not mistaken for
// another (RFC 8725 3.11).
func Unverified(raw string, most int, types ...string) (payload []byte, err error) {
	t, err := parseToken(raw, most)
	if err != nil {
		return nil, err
	}
	if t.kind != "" && !slices.ContainsFunc(types, func(other string) bool { return strings.EqualFold(other, t.kind) }) {
		return nil, invalid("typ of the token is %q; must be %s or absent", provider.Printable(t.kind), strings.Join(types, ", "))
	}
	return t.payload, nil
}

func parseToken(raw string, most int) (*token, error) {
	if len(raw) > most {
		return nil, invalid("token of %d bytes; at most %d are allowed", len(raw), most)
	}
	parts := strings.SplitN(raw, ".", 4)
	if len(parts) != 3 {
		return nil, invalid("token does not have 3 parts")
	}
	var decoded [3][]byte
	for i, name := range []string{"header", "payload", "signature"} {
		b, err := decode(parts[i])
		if err != nil {
			return nil, invalid("%s of the token: %w", name, err)
		}
		decoded[i] = b
	}
	h, err := parseHeader(decoded[0])
	if err != nil {
		return nil, invalid("header of the token: %w", err)
	}
	h.signed, h.payload, h.signature = parts[0]+"."+parts[1], decoded[1], decoded[2]
	return h, nil
}

// parseHeader returns a token with algorithm, key id and type. The members jwk, jku, x5u
// and x5c, by which a token could bring its own key, are ignored.
func parseHeader(text []byte) (*token, error) {
	members, err := ParseClaims(text)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"crit", "b64"} { // b64 is nothing without crit
		if members.Has(name) {
			return nil, fmt.Errorf("%s is not supported", name)
		}
	}
	t := &token{}
	for name, value := range map[string]*string{"alg": &t.algorithm, "kid": &t.keyID, "typ": &t.kind} {
		if *value, err = members.Text(name); err != nil {
			return nil, err
		}
	}
	return t, nil
}
