package loginstate_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
)

// hkdf is HKDF-SHA256 of RFC 5869, without salt, for one block.
func hkdf(secret []byte, purpose string) []byte {
	extract := hmac.New(sha256.New, make([]byte, sha256.Size))
	extract.Write(secret)
	expand := hmac.New(sha256.New, extract.Sum(nil))
	expand.Write(append([]byte(purpose), 1))
	return expand.Sum(nil)
}

func encodedHKDF(secret [32]byte, purpose string) string {
	return base64.RawURLEncoding.EncodeToString(hkdf(secret[:], purpose))
}

func TestDerivations(t *testing.T) {
	a, err := loginstate.Begin(time.Unix(1, 5), acme.Fingerprint(), "/flags")
	if err != nil {
		t.Fatal(err)
	}
	secret := a.Secret()
	want := map[string]string{
		"state":    encodedHKDF(secret, "guidon: state of an attempt to sign in"),
		"nonce":    encodedHKDF(secret, "guidon: nonce of an attempt to sign in"),
		"verifier": encodedHKDF(secret, "guidon: code verifier of an attempt to sign in"),
	}
	got := map[string]string{"state": a.State(), "nonce": a.Nonce(), "verifier": a.Verifier()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("derivations (-want +got):\n%s", diff)
	}
	for name, text := range got {
		if len(text) != 43 { // the shortest verifier of RFC 7636
			t.Errorf("%s has %d characters, want 43", name, len(text))
		}
	}
	if a.State() == a.Nonce() || a.Nonce() == a.Verifier() || a.Verifier() == a.State() {
		t.Errorf("derivations are equal: %v", got)
	}
	if digest := sha256.Sum256(secret[:]); a.Digest() != base64.RawURLEncoding.EncodeToString(digest[:]) {
		t.Error("the digest is not that of the secret")
	}
	if !a.Begun.Equal(time.Unix(1, 0)) || a.ReturnTo != "/flags" || a.Fingerprint != acme.Fingerprint() {
		t.Errorf("got attempt %+v", a)
	}
}

func TestAttemptsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		a, err := loginstate.Begin(time.Unix(1, 0), acme.Fingerprint(), "")
		if err != nil || a.ReturnTo != "/" {
			t.Fatalf("got %v and %v, want an attempt that returns to /", a, err)
		}
		seen[a.State()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d states of 1000 attempts", len(seen))
	}
}

func TestBeginChecksReturnTo(t *testing.T) {
	if _, err := loginstate.Begin(time.Unix(1, 0), acme.Fingerprint(), "//evil.example"); guidon.CodeOf(err) != guidon.InvalidArgument {
		t.Errorf("got %v, want InvalidArgument", err)
	}
}

func TestFingerprint(t *testing.T) {
	seen := map[loginstate.Fingerprint]string{}
	for name, change := range map[string]func(*loginstate.Provider){
		"none":         func(*loginstate.Provider) {},
		"method":       func(p *loginstate.Provider) { p.Method = "codehost" },
		"name":         func(p *loginstate.Provider) { p.Name = "other" },
		"issuer":       func(p *loginstate.Provider) { p.Issuer += "/" },
		"client id":    func(p *loginstate.Provider) { p.ClientID = "other" },
		"redirect URI": func(p *loginstate.Provider) { p.RedirectURI += "x" },
		"moved border": func(p *loginstate.Provider) { p.Method, p.Name = "oidca", "cme" },
		"swapped":      func(p *loginstate.Provider) { p.Method, p.Name = p.Name, p.Method },
	} {
		p := acme
		change(&p)
		if other, twice := seen[p.Fingerprint()]; twice {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[p.Fingerprint()] = name
	}
}
