package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// Sizes of RSA keys, in bits.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// maxKeys is how many keys a provider may publish.
const maxKeys = 100

// key is a public key that verifies signatures.
type key struct {
	public    crypto.PublicKey // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
	id        string           // "" if it has none
	algorithm string           // the only one it may be used with, or "" for all that fit
}

func (k *key) fits(name string) bool {
	return slices.Contains(algorithms, name) && (k.algorithm == "" || k.algorithm == name) && isFor(name, k.public)
}

func (k *key) equal(other *key) bool {
	public, ok := k.public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.id == other.id && k.algorithm == other.algorithm && public.Equal(other.public)
}

// keys are those of one provider at one time. They are immutable.
type keys struct {
	all []*key
	// skipped says why published keys are not among them.
	skipped []string
	// generation changes when the keys do.
	generation uint64
}

// checkPublic returns an error if the key is not of a supported type and size.
func checkPublic(public crypto.PublicKey) error {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return checkRSA(k)
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256(), elliptic.P384(), elliptic.P521():
			return nil
		}
		return fmt.Errorf("unsupported curve %s; must be P-256, P-384 or P-521", k.Curve.Params().Name)
	case ed25519.PublicKey:
		return nil
	}
	return fmt.Errorf("unsupported type of key %T; must be RSA, ECDSA or Ed25519", public)
}

func checkRSA(k *rsa.PublicKey) error {
	if bits := k.N.BitLen(); bits < minRSABits || bits > maxRSABits {
		return fmt.Errorf("RSA key of %d bits; must have %d to %d", bits, minRSABits, maxRSABits)
	}
	if k.N.Bit(0) == 0 || k.E < 3 || k.E > math.MaxInt32 || k.E%2 == 0 {
		return fmt.Errorf("RSA key is malformed")
	}
	return nil
}

// algorithms are those that can be configured. All have public keys: with HMAC anyone
// who knows the published key could sign.
var algorithms = []string{"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}

// isFor reports whether the public key is of the type that the algorithm needs.
func isFor(algorithm string, public crypto.PublicKey) bool {
	switch method := jwt.GetSigningMethod(algorithm).(type) {
	case *jwt.SigningMethodRSA, *jwt.SigningMethodRSAPSS:
		_, ok := public.(*rsa.PublicKey)
		return ok
	case *jwt.SigningMethodECDSA:
		k, ok := public.(*ecdsa.PublicKey)
		return ok && k.Curve.Params().BitSize == method.CurveBits
	case *jwt.SigningMethodEd25519:
		_, ok := public.(ed25519.PublicKey)
		return ok
	}
	return false
}

// DefaultAlgorithms returns the names of all algorithms that can be configured.
func DefaultAlgorithms() []string { return slices.Clone(algorithms) }

// CheckAlgorithms returns an error if a set cannot be made with these algorithms.
func CheckAlgorithms(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no algorithm; need at least one of %s", strings.Join(algorithms, ", "))
	}
	for _, name := range names {
		if !slices.Contains(algorithms, name) {
			return fmt.Errorf("unknown algorithm %q; must be one of %s", name, strings.Join(algorithms, ", "))
		}
	}
	return nil
}
