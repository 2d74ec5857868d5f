package loginstate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

var grantCode = kind{"code of the grant", "guidon: key of grants", 2 << 10, "the code is not valid; sign in again"}

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
	plain, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("cannot encode the grant: %w", err)
	}
	return s.seal(ctx, grantCode, grantCode.purpose, plain)
}

// OpenGrant returns the grant with the code. It returns Unauthenticated if the code is not
// one of this service, or has expired.
func (s *Sealer) OpenGrant(ctx context.Context, code string) (*Grant, error) {
	plain, err := s.open(ctx, grantCode, grantCode.purpose, code)
	if err != nil {
		return nil, err
	}
	g := new(Grant)
	if err := json.Unmarshal(plain, g); err != nil {
		return nil, grantCode.refuse("%w", err)
	}
	if !s.Now().Before(g.Expires) {
		return nil, grantCode.refuse("expired")
	}
	return g, nil
}
