package loginstate

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

const purposeGrant = "guidon: key of grants"

// MaxGrant is the maximum length of the code of a grant, in bytes.
const MaxGrant = 2 << 10

// Grant allows a command line to sign in as the person of a session. The code alone is not
// enough: its holder also needs the verifier of the challenge.
type Grant struct {
	Session   string    `json:"session"`   // its id
	Challenge string    `json:"challenge"` // S256 of the code verifier (RFC 7636)
	Name      string    `json:"name"`      // of the new session
	Expires   time.Time `json:"expires"`
}

// SealGrant returns the code of the grant.
func (s *Sealer) SealGrant(ctx context.Context, g Grant) (string, error) {
	k, err := s.Keys.Newest(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot get the key of grants: %w", err)
	}
	plain, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("cannot encode the grant: %w", err)
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(k.Number))              // #nosec G115 -- the bits are meant
	value = k.aead(purposeGrant).Seal(value, nil, plain, []byte(purposeGrant)) // #nosec G407 -- the cipher makes the nonce
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// OpenGrant returns the grant with the code. It returns Unauthenticated if the code is not
// one of this service, or has expired.
func (s *Sealer) OpenGrant(ctx context.Context, code string) (*Grant, error) {
	if len(code) > MaxGrant {
		return nil, refuseGrant(fmt.Errorf("code of %d bytes", len(code)))
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(code)
	if err != nil || len(raw) < 8 || strings.ContainsAny(code, "\r\n") {
		return nil, refuseGrant(errors.New("malformed code"))
	}
	k, found, err := s.Keys.Numbered(ctx, int64(binary.BigEndian.Uint64(raw))) // #nosec G115 -- the bits are meant
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot get the key of the grant: %w", err)
	case !found:
		return nil, refuseGrant(errors.New("unknown key"))
	}
	plain, err := k.aead(purposeGrant).Open(nil, nil, raw[8:], []byte(purposeGrant))
	if err != nil {
		return nil, refuseGrant(errors.New("not sealed by this service"))
	}
	g := new(Grant)
	if err := json.Unmarshal(plain, g); err != nil {
		return nil, refuseGrant(err)
	}
	if !s.Now().Before(g.Expires) {
		return nil, refuseGrant(errors.New("expired"))
	}
	return g, nil
}

func refuseGrant(cause error) error {
	return &guidon.Error{Code: guidon.Unauthenticated, Message: "the code is not valid; sign in again", Err: cause}
}
