package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// algorithm is a way of signing, which fits one type of public key.
type algorithm struct {
	method jwt.SigningMethod
	fits   func(crypto.PublicKey) bool
}

// algorithms are those that can be configured. All have public keys: with HMAC anyone
// who knows the published key could sign.
var algorithms = map[string]algorithm{
	"RS256": {jwt.SigningMethodRS256, isRSA},
	"RS384": {jwt.SigningMethodRS384, isRSA},
	"RS512": {jwt.SigningMethodRS512, isRSA},
	"PS256": {jwt.SigningMethodPS256, isRSA},
	"PS384": {jwt.SigningMethodPS384, isRSA},
	"PS512": {jwt.SigningMethodPS512, isRSA},
	"ES256": {jwt.SigningMethodES256, onCurve(elliptic.P256())},
	"ES384": {jwt.SigningMethodES384, onCurve(elliptic.P384())},
	"ES512": {jwt.SigningMethodES512, onCurve(elliptic.P521())},
	"EdDSA": {jwt.SigningMethodEdDSA, isEd25519},
}

func isRSA(key crypto.PublicKey) bool {
	_, ok := key.(*rsa.PublicKey)
	return ok
}

func isEd25519(key crypto.PublicKey) bool {
	_, ok := key.(ed25519.PublicKey)
	return ok
}

func onCurve(curve elliptic.Curve) func(crypto.PublicKey) bool {
	return func(key crypto.PublicKey) bool {
		k, ok := key.(*ecdsa.PublicKey)
		return ok && k.Curve == curve
	}
}

// DefaultAlgorithms returns the names of all algorithms that can be configured.
func DefaultAlgorithms() []string {
	return slices.Sorted(maps.Keys(algorithms))
}

// CheckAlgorithms returns an error if a set cannot be made with these algorithms.
func CheckAlgorithms(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no algorithm; need at least one of %s", strings.Join(DefaultAlgorithms(), ", "))
	}
	for _, name := range names {
		if _, ok := algorithms[name]; !ok {
			return fmt.Errorf("unknown algorithm %q; must be one of %s", name, strings.Join(DefaultAlgorithms(), ", "))
		}
	}
	return nil
}
