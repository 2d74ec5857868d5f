package kubernetes

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/guidonhq/guidon/service"
)

// clientTokenPurpose ensures that the key gives nothing else of the same value.
const clientTokenPurpose = "guidon: client token for a service account token\x00" // #nosec G101 -- a name, not a credential

// ClientToken returns the client token that a service account token is exchanged for. It
// is always the same, so a client that exchanges its token for each request causes only
// one write. Without the key, which only the instances know, it cannot be guessed.
func ClientToken(key [32]byte, raw string) string {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(clientTokenPurpose + raw))
	return service.TokenOf([32]byte(mac.Sum(nil)))
}
