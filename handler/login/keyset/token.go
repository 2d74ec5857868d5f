package keyset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// maxToken is the maximum length of a token in bytes.
const maxToken = 64 << 10

// token is a signed token in the compact form (RFC 7515).
type token struct {
	algorithm string
	keyID     string // "" for none
	kind      string // of the token, "" for none
	signed    string // the part that the signature is of
	payload   []byte
	signature []byte
}

// invalid returns the error for a token that is not accepted. Only logs contain why.
func invalid(format string, args ...any) error {
	return &guidon.Error{Code: guidon.Unauthenticated, Message: "invalid token", Err: fmt.Errorf(format, args...)}
}

// Type returns the member typ of the token's header, or "" if there is none, so that one
// kind of token is not mistaken for another (RFC 8725 3.11). It does not verify the
// token.
func Type(raw string) (string, error) {
	t, err := parseToken(raw)
	if err != nil {
		return "", err
	}
	return t.kind, nil
}

func parseToken(raw string) (*token, error) {
	if len(raw) > maxToken {
		return nil, invalid("token of %d bytes; at most %d are allowed", len(raw), maxToken)
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

// parseHeader returns a token with algorithm and key id. The members jwk, jku, x5u and
// x5c, by which a token could bring its own key, are ignored.
func parseHeader(text []byte) (*token, error) {
	members, err := object(text)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"crit", "b64"} { // b64 is nothing without crit
		if _, ok := members[name]; ok {
			return nil, fmt.Errorf("%s is not supported", name)
		}
	}
	t := &token{}
	if err := stringMember(members, "alg", &t.algorithm); err != nil {
		return nil, err
	}
	if err := stringMember(members, "kid", &t.keyID); err != nil {
		return nil, err
	}
	if err := stringMember(members, "typ", &t.kind); err != nil {
		return nil, err
	}
	return t, nil
}

// stringMember sets the value to the string of that name, if there is one.
func stringMember(members map[string]json.RawMessage, name string, value *string) error {
	raw, ok := members[name]
	if !ok {
		return nil
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, value) != nil {
		return fmt.Errorf("%s is not a string", name)
	}
	return nil
}

// object returns the members of a JSON object. It is an error if one is there twice:
// other parsers might use the other one.
func object(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("malformed JSON: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("malformed JSON: %w", err)
		}
		if _, twice := members[name.(string)]; twice {
			return nil, fmt.Errorf("%s is there twice", provider.Printable(name.(string)))
		}
		members[name.(string)] = value
	}
	if !json.Valid(text) { // the end, and what follows it
		return nil, errors.New("malformed JSON")
	}
	return members, nil
}
