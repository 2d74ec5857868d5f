package instance

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/service"
)

// An operator is warned if the expected first token does not exist. A configured token is
// never logged.
func TestBootstrapWarnings(t *testing.T) {
	const secret = "a-configured-secret"
	const unused, lockedOut = "bootstrap token is not valid", "no valid token"
	hour := time.Now().Add(time.Hour)
	delete := func(t *testing.T, s *service.Service) {
		all, _, err := s.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{Method: service.MethodToken}, 100, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if err := s.DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	create := func(in service.TokenInput) func(t *testing.T, s *service.Service) {
		return func(t *testing.T, s *service.Service) {
			if _, _, err := s.CreateToken(t.Context(), service.Write{}, in); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name     string
		token    string
		optional bool // authentication is not required
		between  []func(t *testing.T, s *service.Service)
		want     []string
	}{
		{name: "configured"},
		{name: "random, kept"},
		{"configured, deleted", secret, false, []func(t *testing.T, s *service.Service){delete}, []string{unused, lockedOut}},
		{"configured, replaced", secret, false, []func(t *testing.T, s *service.Service){delete, create(service.TokenInput{Name: "n", ExpiresAt: &hour})}, []string{unused}},
		{"random, deleted", "", false, []func(t *testing.T, s *service.Service){delete}, []string{lockedOut}},
		{"random, one namespace left", "", false, []func(t *testing.T, s *service.Service){delete, create(service.TokenInput{Name: "n", Namespace: "shop"})}, []string{lockedOut}},
		{"not required", "", true, []func(t *testing.T, s *service.Service){delete}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := newTestCleaner(t).service
			c := config.Authentication{Required: !tt.optional}
			c.Methods.Token = config.Token{Enabled: true, Bootstrap: config.Bootstrap{Token: tt.token}}
			start := func() string {
				var log bytes.Buffer
				if err := Bootstrap(t.Context(), c, service, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
					t.Fatal(err)
				}
				return log.String()
			}
			first := start()
			if !strings.Contains(first, "bootstrap token created") || strings.Contains(first, secret) {
				t.Errorf("the first start logs %q", first)
			}
			for _, fn := range tt.between {
				fn(t, service)
			}
			log := start()
			for _, text := range []string{unused, lockedOut} {
				want := strings.Contains(strings.Join(tt.want, "\n"), text)
				if strings.Contains(log, text) != want {
					t.Errorf("%q in the log: %t, want %t:\n%s", text, !want, want, log)
				}
			}
			if strings.Contains(log, "created\"") || strings.Contains(log, secret) {
				t.Errorf("the second start logs %q", log)
			}
		})
	}
}
