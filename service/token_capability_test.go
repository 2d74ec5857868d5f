package service_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestCapability: a capability is accepted for its namespace only, until its expiry,
// by every instance that knows the token. It does not work as a token.
func TestCapability(t *testing.T) {
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	db := newStore(t)
	s := service.NewService(db, func() time.Time { return now })
	other := service.NewService(db, func() time.Time { return now })
	create := func(in service.TokenInput) *service.Authentication {
		t.Helper()
		_, a, err := s.CreateToken(t.Context(), service.Write{}, in)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := create(service.TokenInput{Name: "a"}), create(service.TokenInput{Name: "b"})
	brief := create(service.TokenInput{Name: "brief", ExpiresAt: new(now.Add(time.Minute))})
	end := service.CapabilityEnd(now)
	good := a.Capability("shop", end)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) string {
		c := append([]byte(nil), raw...)
		c[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(c)
	}
	for _, test := range []struct {
		name, namespace, capability string
		at                          time.Time
		want                        *service.Authentication
	}{
		{"valid", "shop", good, now, a},
		{"of another token", "shop", b.Capability("shop", end), now, b},
		{"for the default namespace by an empty key", "", a.Capability("default", end), now, a},
		{"a moment before its end", "shop", good, end.Add(-1), a},
		{"at its end", "shop", good, end, nil},
		{"another namespace", "shop2", good, now, nil},
		{"another handle", "shop", changed(0), now, nil},
		{"another end", "shop", changed(19), now, nil},
		{"another signature", "shop", changed(35), now, nil},
		{"truncated", "shop", good[:len(good)-4], now, nil},
		{"invalid base64", "shop", strings.Repeat("%", 48), now, nil},
		{"empty", "shop", "", now, nil},
		{"of a token that has not expired yet", "shop", brief.Capability("shop", end), now, brief},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, until, err := other.AuthenticateListener(t.Context(), service.Demand{}, test.namespace, test.capability, test.at)
			if test.want == nil {
				if !errors.Is(err, guidon.Unauthenticated) {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err != nil || got.ID != test.want.ID || !until.Equal(end) {
				t.Errorf("got %v until %v, %v", got, until, err)
			}
		})
	}
	if _, _, err := s.Authenticate(t.Context(), service.Demand{}, "", good); !errors.Is(err, guidon.Unauthenticated) {
		t.Errorf("a capability was accepted as a token: %v", err)
	}
	for _, secret := range []string{a.ID, a.TokenHash} {
		if strings.Contains(string(raw), secret) || strings.Contains(good, secret) {
			t.Errorf("the capability contains %q", secret)
		}
	}

	rejected := func(what, capability string) {
		t.Helper()
		if _, _, _, err := other.AuthenticateListener(t.Context(), service.Demand{}, "shop", capability, now); !errors.Is(err, guidon.Unauthenticated) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	past := now
	now = now.Add(2 * time.Minute)
	rejected("the token has expired", brief.Capability("shop", end))
	now = past
	if err := s.DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
		t.Fatal(err)
	}
	rejected("the token was deleted", good)
}

// TestCapabilityEnd: the same capability is issued throughout a window, and is valid
// for at least one more.
func TestCapabilityEnd(t *testing.T) {
	begin := time.Date(2026, 5, 1, 6, 0, 0, 0, time.UTC)
	for at := begin; at.Before(begin.Add(service.CapabilityWindow)); at = at.Add(7 * time.Minute) {
		if got, want := service.CapabilityEnd(at), begin.Add(2*service.CapabilityWindow); !got.Equal(want) {
			t.Fatalf("at %v: got %v, want %v", at, got, want)
		}
	}
	if a := (&service.Authentication{ID: "x"}); a.Signs() {
		t.Error("an authentication without a token hash must not sign")
	}
}

// TestListenerStoreError: a failure of the store does not mean that the capability
// is invalid.
func TestListenerStoreError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &service.Authentication{ID: "x", TokenHash: "y"}
	_, _, _, err := newService(t).AuthenticateListener(ctx, service.Demand{}, "shop", a.Capability("shop", time.Now()), time.Now())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
