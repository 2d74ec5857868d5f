package login

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/oidc"
	wire "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// slow is a provider that takes its time for each step, or until the context ends.
type slow struct{ issuer, identity time.Duration }

const forever = time.Hour

func (s slow) Fingerprint() loginstate.Fingerprint { return loginstate.Fingerprint{1} }

func (s slow) AuthorizeURL(_ context.Context, a *loginstate.Attempt) (string, error) {
	return a.State(), nil
}

func (s slow) Identify(ctx context.Context, _ *loginstate.Attempt, _ string) (*service.Identity, error) {
	return &service.Identity{Subject: "codehost:id:7"}, wait(ctx, s.identity)
}

// issuerProvider is a provider whose issuer is checked as well.
type issuerProvider struct{ slow }

func (c issuerProvider) CheckIssuer(ctx context.Context, _ string) error {
	return wait(ctx, c.issuer)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// TestAttemptLimit: one attempt waits at most ten seconds for its provider, for all of its
// steps together. The fault is then the provider's. A client that leaves earlier is not
// told so.
func TestAttemptLimit(t *testing.T) {
	const second = time.Second
	for name, test := range map[string]struct {
		people People
		client time.Duration // when it leaves
		code   guidon.Code   // 0 means success
		after  time.Duration
	}{
		"fast":                   {slow{identity: second}, forever, 0, second},
		"slow in both steps":     {issuerProvider{slow{5 * second, 4 * second}}, forever, 0, 9 * second},
		"hangs":                  {slow{identity: forever}, forever, guidon.Unavailable, 10 * second},
		"hangs with the issuer":  {issuerProvider{slow{forever, 0}}, forever, guidon.Unavailable, 10 * second},
		"too slow in both steps": {issuerProvider{slow{6 * second, 6 * second}}, forever, guidon.Unavailable, 10 * second},
		"hangs after the issuer": {issuerProvider{slow{9 * second, forever}}, forever, guidon.Unavailable, 10 * second},
		"the client gives up":    {issuerProvider{slow{2 * second, forever}}, 3 * second, guidon.DeadlineExceeded, 3 * second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.client)
				defer cancel()
				c := callback{people: test.people, message: &wire.CallbackRequest{Code: "c"}}
				begun := time.Now()
				_, err := c.identify(ctx, nil)
				if took := time.Since(begun); took != test.after {
					t.Errorf("took %v, want %v", took, test.after)
				}
				if test.code == 0 {
					if err != nil {
						t.Errorf("got %v, want success", err)
					}
					return
				}
				refusal, ok := errors.AsType[*auth.Refusal](err)
				if !ok || guidon.CodeOf(err) != test.code || refusal.Reason() != auth.ReasonUnavailable {
					t.Fatalf("got %v, want a refusal with code %v", err, test.code)
				}
				if test.code == guidon.Unavailable && (refusal.RetryAfter() != "5" || !strings.Contains(err.Error(), "longer than 10s")) {
					t.Errorf("retry after %s: %v", refusal.RetryAfter(), err)
				}
			})
		})
	}
}

// secrets keeps one secret in memory.
type secrets struct{ all []service.Secret }

func (s *secrets) Secrets(context.Context) ([]service.Secret, error) { return s.all, nil }
func (s *secrets) AddSecret(_ context.Context, secret service.Secret) (bool, error) {
	s.all = append(s.all, secret)
	return true, nil
}
func (s *secrets) DeleteSecrets(context.Context, int64) error          { return nil }
func (s *secrets) Spent(context.Context, string) (bool, error)         { return false, nil }
func (s *secrets) Spend(context.Context, string, time.Time) error      { return nil }
func (s *secrets) DeleteSpent(context.Context, time.Time) (int, error) { return 0, nil }

// TestHangingProvider: the browser of an attempt at a provider that hangs gets an answer
// after ten seconds, and keeps the login cookie, so that reloading works.
func TestHangingProvider(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, err := New(Config{
			Codehost: &Codehost{People: slow{identity: forever}}, Secrets: &secrets{}, StateLifetime: 10 * time.Minute, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		begun, err := s.AuthorizeURL(t.Context(), nil, service.MethodCodehost, &wire.AuthorizeURLRequest{ReturnTo: "/"}, &call.Request{})
		if err != nil || len(begun.SetCookie) != 1 {
			t.Fatalf("%d cookies, %v", len(begun.SetCookie), err)
		}
		cookie, _, _ := strings.Cut(begun.SetCookie[0], ";")
		state := begun.Message.(*wire.AuthorizeURLResponse).GetAuthorizeUrl()
		start := time.Now()
		response, err := s.Callback(t.Context(), nil, service.Write{}, service.MethodCodehost,
			&wire.CallbackRequest{Code: "c", State: state}, &call.Request{Credentials: call.Credentials{Cookie: []string{cookie}}})
		if took := time.Since(start); took != 10*time.Second || guidon.CodeOf(err) != guidon.Unavailable {
			t.Errorf("after %v: got %v, want Unavailable after 10s", took, err)
		}
		if len(response.SetCookie) != 0 || response.SignIn.Reason != auth.ReasonUnavailable {
			t.Errorf("cookies %q, reason %q", response.SetCookie, response.SignIn.Reason)
		}
	})
}

// TestIssuerIsChecked: that of an OpenID provider is, before anything is requested.
func TestIssuerIsChecked(t *testing.T) {
	p, err := oidc.New(oidc.Config{Name: "acme", Issuer: "https://acme.example", ClientID: "guidon", RedirectURI: "https://flags.example/callback"})
	if err != nil {
		t.Fatal(err)
	}
	s := &SignIn{config: Config{OIDC: map[string]OIDC{"acme": {Provider: p}}}}
	people, _, err := s.people(service.MethodOIDC, "acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []*wire.CallbackRequest{{Iss: "https://evil.example", Code: "c"}, {Iss: "https://evil.example", Error: "access_denied"}} {
		c := callback{people: people, message: message}
		_, err = c.identify(t.Context(), nil)
		if refusal, ok := errors.AsType[*auth.Refusal](err); !ok || refusal.Reason() != auth.ReasonInvalid || !strings.Contains(err.Error(), "another issuer") {
			t.Errorf("got %v, want a refusal because of the issuer", err)
		}
	}
}
