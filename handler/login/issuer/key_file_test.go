package issuer_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

func encodePEM(kind string, der []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func certificate(k *logintest.Key) []byte {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "issuer"}, NotAfter: time.Unix(1, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Private.Public(), k.Private)
	return encodePEM("CERTIFICATE", der, err)
}

func TestFile(t *testing.T) {
	rsaKey, ec, ed := logintest.New("RSA", ""), logintest.New("P-256", ""), logintest.New("Ed25519", "")
	pkcs8, err := x509.MarshalPKCS8PrivateKey(rsaKey.Private)
	private := encodePEM("PRIVATE KEY", pkcs8, err)
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	odd, err := x509.MarshalPKIXPublicKey(p224.Public())
	oddCurve := encodePEM("PUBLIC KEY", odd, err)
	small, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(3), 1022), E: 65537})
	smallRSA := encodePEM("PUBLIC KEY", small, err)
	ecDER, err := x509.MarshalECPrivateKey(ec.Private.(*ecdsa.PrivateKey))
	for _, test := range []struct {
		name       string
		content    []byte
		algorithms []string // nil for all
		want       string   // in the error, "" for none
	}{
		{"RSA", rsaKey.PEM(), nil, ""},
		{"EC", ec.PEM(), nil, ""},
		{"Ed25519", ed.PEM(), nil, ""},
		{"PKCS #1", encodePEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(rsaKey.Private.Public().(*rsa.PublicKey)), nil), nil, ""},
		{"certificate", certificate(ec), nil, ""},
		{"with a comment", append([]byte("the key of the gateway\n"), ec.PEM()...), nil, ""},
		{"several", bytes.Join([][]byte{rsaKey.PEM(), ec.PEM()}, nil), nil, ""},
		{"empty", nil, nil, "no public key"},
		{"text", []byte("hello"), nil, "no public key"},
		{"private key", private, nil, "private key"},
		{"private EC key", encodePEM("EC PRIVATE KEY", ecDER, err), nil, "private key"},
		{"encrypted private key", encodePEM("ENCRYPTED PRIVATE KEY", pkcs8, nil), nil, "private key"},
		{"public and private key", append(rsaKey.PEM(), private...), nil, "private key"},
		{"private key under another name", encodePEM("PUBLIC KEY", pkcs8, nil), nil, "cannot parse PUBLIC KEY"},
		{"request", encodePEM("CERTIFICATE REQUEST", []byte{1}, nil), nil, "must be a public key or a certificate"},
		{"malformed", encodePEM("PUBLIC KEY", []byte{1, 2}, nil), nil, "cannot parse PUBLIC KEY"},
		{"malformed certificate", encodePEM("CERTIFICATE", []byte{1, 2}, nil), nil, "cannot parse CERTIFICATE"},
		{"P-224", oddCurve, nil, "unsupported curve P-224"},
		{"RSA 1024", smallRSA, nil, "RSA key of 1024 bits"},
		{"too many", bytes.Repeat(ed.PEM(), 101), nil, "101 keys"},
		{"too large", make([]byte, 1<<20+1), nil, "too large"},
		{"unfitting algorithms", append(rsaKey.PEM(), ec.PEM()...), []string{"RS256"}, "key 2 fits none"},
		{"HMAC", rsaKey.PEM(), []string{"HS256"}, "key 1 fits none of the algorithms HS256"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.algorithms == nil {
				test.algorithms = issuer.DefaultAlgorithms()
			}
			_, err := issuer.KeyFile(writeFile(t, test.content), test.algorithms)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := issuer.KeyFile(filepath.Join(t.TempDir(), "none"), issuer.DefaultAlgorithms()); err == nil {
		t.Error("a missing file was accepted")
	}
}

// TestFileTokens: the ids in tokens do not matter, the type of the key does.
func TestFileTokens(t *testing.T) {
	ec, other := logintest.New("P-256", ""), logintest.New("P-256 2", "")
	s, err := issuer.KeyFile(writeFile(t, append(ec.PEM(), logintest.New("Ed25519", "").PEM()...)), []string{"ES256", "EdDSA"})
	if err != nil {
		t.Fatal(err)
	}
	checkAccepted(t, s, ec.Token("ES256", claims()))
	checkAccepted(t, s, logintest.New("P-256", "any").Token("ES256", claims()))
	checkAccepted(t, s, logintest.New("Ed25519", "any").Token("EdDSA", claims()))
	checkRejected(t, s, other.Token("ES256", claims()), guidon.Unauthenticated)
	checkRejected(t, s, logintest.New("RSA", "").Token("RS256", claims()), guidon.Unauthenticated)
	first, err1 := s.Generation(t.Context())
	second, err2 := s.Generation(t.Context())
	if first != second || err1 != nil || err2 != nil {
		t.Errorf("generations %d and %d, errors %v and %v; want the same", first, second, err1, err2)
	}
}
