package provider_test

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// otherAuthority returns a certificate that has signed no other.
func otherAuthority(t *testing.T) []byte {
	t.Helper()
	key := logintest.New("P-256", "").Private
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "other"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
