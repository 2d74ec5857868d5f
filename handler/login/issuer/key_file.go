package issuer

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// maxFile is the maximum size of a key file in bytes.
const maxFile = 1 << 20

// KeyFile returns the set of the public keys in a PEM file: PKIX or PKCS #1 keys, or
// certificates, of which only the key is used. It returns an error if the file has none,
// or has anything else, above all a private key. The file is read only once. Since its
// keys have no ids, the ids in tokens are ignored.
func KeyFile(path string, algorithms []string) (*KeySet, error) {
	text, err := provider.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key file: %w", err)
	}
	parsed, err := parsePEM(text)
	if err == nil {
		err = usable(parsed, algorithms)
	}
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	return &KeySet{config: Config{Algorithms: algorithms}, fixed: parsed}, nil
}

func parsePEM(text []byte) (*keys, error) {
	parsed := &keys{generation: 1}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		public, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		parsed.all = append(parsed.all, &key{public: public})
	}
	switch {
	case len(parsed.all) == 0:
		return nil, errors.New("no public key in PEM form")
	case len(parsed.all) > maxKeys:
		return nil, fmt.Errorf("%d keys; at most %d are allowed", len(parsed.all), maxKeys)
	}
	return parsed, nil
}

func parseBlock(block *pem.Block) (crypto.PublicKey, error) {
	public, err := parsePublic(block)
	if err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", block.Type, err)
	}
	return public, checkPublic(public)
}

func parsePublic(block *pem.Block) (crypto.PublicKey, error) {
	switch {
	case strings.Contains(block.Type, "PRIVATE KEY"):
		return nil, errors.New("has a private key; give only the public key to this service")
	case block.Type == "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return certificate.PublicKey, nil
	}
	return nil, errors.New("must be a public key or a certificate")
}

// usable returns an error if a key fits none of the algorithms.
func usable(k *keys, algorithms []string) error {
	for i, key := range k.all {
		if !slices.ContainsFunc(algorithms, key.fits) {
			return fmt.Errorf("key %d fits none of the algorithms %s", i+1, strings.Join(algorithms, ", "))
		}
	}
	return nil
}
