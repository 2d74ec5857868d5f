package service_test

import (
	"hash/crc32"
	"math/big"
	"regexp"
	"testing"

	"github.com/guidonhq/guidon/service"
)

// TestTokenForm: a new token has the documented form, which secret scanners search for, and
// its checksum is the CRC-32 of the rest. math/big has the same digits in another order.
func TestTokenForm(t *testing.T) {
	s := newService(t)
	form := regexp.MustCompile(`^(gdn_[A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$`)
	for range 100 {
		token, _, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "ci"})
		if err != nil {
			t.Fatal(err)
		}
		parts := form.FindStringSubmatch(token)
		if parts == nil {
			t.Fatalf("%q does not have the form %s", token, form)
		}
		if got, want := checksumOf(t, parts[2]), uint64(crc32.ChecksumIEEE([]byte(parts[1]))); got != want {
			t.Errorf("%q: checksum %d, want %d", token, got, want)
		}
	}
}

// TestTokenOf: the same bits give the same token, of the form of new ones.
func TestTokenOf(t *testing.T) {
	const want = "gdn_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	var raw [32]byte
	for i := range raw {
		raw[i] = byte(i)
	}
	got := service.TokenOf(raw)
	if len(got) != len(want)+6 || got[:len(want)] != want {
		t.Fatalf("got %q, want %q and a checksum", got, want)
	}
	if sum := checksumOf(t, got[len(want):]); sum != uint64(crc32.ChecksumIEEE([]byte(want))) {
		t.Errorf("checksum %d, want %d", sum, crc32.ChecksumIEEE([]byte(want)))
	}
}

// checksumOf returns the number that the digits stand for. In them capitals come before
// small letters, in math/big after.
func checksumOf(t *testing.T, digits string) uint64 {
	t.Helper()
	swapped := []byte(digits)
	for i, c := range swapped {
		if c >= 'A' {
			swapped[i] = c ^ 0x20
		}
	}
	n, ok := new(big.Int).SetString(string(swapped), 62)
	if !ok {
		t.Fatalf("%q is not in base 62", digits)
	}
	return n.Uint64()
}
