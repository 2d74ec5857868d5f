package loginstate_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// secrets are the keys of all instances.
type secrets struct {
	keys []loginstate.Key // oldest first
	err  error
}

func (s *secrets) Newest(context.Context) (loginstate.Key, error) {
	if s.err != nil {
		return loginstate.Key{}, s.err
	}
	return s.keys[len(s.keys)-1], nil
}

func (s *secrets) Numbered(_ context.Context, number int64) (loginstate.Key, bool, error) {
	for _, k := range s.keys {
		if k.Number == number {
			return k, true, s.err
		}
	}
	return loginstate.Key{}, false, s.err
}

func (s *secrets) add(number int64) {
	s.keys = append(s.keys, loginstate.Key{Number: number, Secret: [32]byte{byte(number)}})
}

const lifetime = 10 * time.Minute

func newSealer() (*loginstate.Sealer, *secrets, *logintest.Clock) {
	keys, clock := &secrets{}, logintest.NewClock()
	keys.add(1)
	return &loginstate.Sealer{Keys: keys, Lifetime: lifetime, Now: clock.Now, Path: "/auth/v1/method/"}, keys, clock
}

var acme = loginstate.Provider{
	Method: "oidc", Name: "acme", Issuer: "https://acme.example", ClientID: "guidon",
	RedirectURI: "https://flags.example/auth/v1/method/oidc/acme/callback",
}

// begin starts an attempt and returns its cookie.
func begin(t testing.TB, s *loginstate.Sealer, returnTo string) (*loginstate.Attempt, *http.Cookie) {
	t.Helper()
	a, err := loginstate.Begin(s.Now(), acme.Fingerprint(), returnTo)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Cookie(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}
