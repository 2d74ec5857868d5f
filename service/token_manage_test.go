package service_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Processes that start concurrently create one bootstrap token, and it is valid
// (operations 1.5).
func TestBootstrapConcurrently(t *testing.T) {
	store := newStore(t)
	ctx := t.Context()
	var mu sync.Mutex
	var tokens []string
	var starting sync.WaitGroup
	for range 16 {
		starting.Go(func() {
			random, created, err := service.NewService(store, time.Now).Bootstrap(ctx, service.Write{}, service.BootstrapInput{})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if created {
				tokens = append(tokens, random)
			}
		})
	}
	starting.Wait()
	if len(tokens) != 1 {
		t.Fatalf("%d bootstrap tokens were created, want 1", len(tokens))
	}
	s := service.NewService(store, time.Now)
	a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Metadata[service.MetadataTokenName]; got != "initial_bootstrap_token" {
		t.Errorf("the name of the token is %q", got)
	}
}

// A configured secret becomes the token and is not returned, so that it cannot get into
// a log. Any string is accepted (contract 10.1).
func TestBootstrapWithSecret(t *testing.T) {
	s := newService(t)
	in := service.BootstrapInput{Token: "s3cr3t", Expiration: time.Hour, Metadata: map[string]string{"role": "admin"}}
	random, created, err := s.Bootstrap(t.Context(), service.Write{}, in)
	if random != "" || !created || err != nil {
		t.Fatalf("got %q, %t, %v; want nothing, true, no error", random, created, err)
	}
	a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", "s3cr3t")
	if err != nil {
		t.Fatal(err)
	}
	if a.TokenHash != "TnOMpVY8Bs_QAYKZkz1Y2x3Yv5f2lz3Jm_bNxktVUL0=" { // contract 10.1
		t.Errorf("the hash is %s", a.TokenHash)
	}
	if a.Metadata["role"] != "admin" || time.Until(a.ExpiresAt).Round(time.Minute) != time.Hour {
		t.Errorf("metadata %v, expiry %v", a.Metadata, a.ExpiresAt)
	}
}

// The first token is an admin, whatever the default role; by default it is stored without a role.
func TestBootstrapRole(t *testing.T) {
	for role, stored := range map[service.Role]service.Role{
		service.RoleUnset: service.RoleUnset, service.RoleAdmin: service.RoleUnset,
		service.RoleNone: service.RoleAdmin, service.RoleViewer: service.RoleAdmin,
	} {
		for _, enforced := range []bool{false, true} {
			s := newService(t).WithPolicy(&service.Policy{Enforced: enforced, Defaults: service.DefaultRoles{service.MethodToken: role}})
			if _, _, err := s.Bootstrap(t.Context(), service.Write{}, service.BootstrapInput{Token: "s3cr3t"}); err != nil {
				t.Fatal(err)
			}
			a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", "s3cr3t")
			if err != nil || !a.May(service.RoleAdmin, service.Everywhere) || a.Role != stored {
				t.Errorf("%s, enforced %t: got the role %s, %v", role, enforced, a.Role, err)
			}
		}
	}
}

// A database is bootstrapped once, whatever happens to its tokens.
func TestBootstrapOnce(t *testing.T) {
	token := func(t *testing.T, s *service.Service, in service.TokenInput) *service.Authentication {
		t.Helper()
		_, created, err := s.CreateToken(t.Context(), service.Write{}, in)
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	past := time.Now().Add(-time.Hour)
	for name, before := range map[string]func(t *testing.T, s *service.Service){
		"a valid token":    func(t *testing.T, s *service.Service) { token(t, s, service.TokenInput{Name: "n"}) },
		"an expired token": func(t *testing.T, s *service.Service) { token(t, s, service.TokenInput{Name: "n", ExpiresAt: &past}) },
		"a deleted token": func(t *testing.T, s *service.Service) {
			if err := s.DeleteAuthentication(t.Context(), service.Write{}, token(t, s, service.TokenInput{Name: "n"}).ID); err != nil {
				t.Fatal(err)
			}
		},
		"a token that was cleaned up": func(t *testing.T, s *service.Service) {
			token(t, s, service.TokenInput{Name: "n", ExpiresAt: &past})
			if n, err := s.CleanupAuthentications(t.Context(), service.Write{}, service.MethodToken, 0); n != 1 || err != nil {
				t.Fatalf("deleted %d, error %v; want 1", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			before(t, s)
			for _, in := range []service.BootstrapInput{{}, {Token: "s3cr3t"}} {
				if random, created, err := s.Bootstrap(t.Context(), service.Write{}, in); random != "" || created || err != nil {
					t.Errorf("%+v: got %q, created %t, error %v; want nothing", in, random, created, err)
				}
			}
			if _, _, err := s.Authenticate(t.Context(), service.Demand{}, "", "s3cr3t"); !errors.Is(err, guidon.Unauthenticated) {
				t.Errorf("the configured token: got error %v, want Unauthenticated", err)
			}
		})
	}
}

// A created token has a recognizable prefix and names its creator. Only its hash is
// stored, and its name is required (operations 1.3, 1.4).
func TestCreateToken(t *testing.T) {
	s := newService(t)
	by := service.Write{By: service.Caller{Actor: change.Actor{ID: "token:maker"}}}
	token, a, err := s.CreateToken(t.Context(), by, service.TokenInput{
		Name: "ci", Description: "for CI", Namespace: "default",
		Metadata: map[string]string{"team": "shop"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(token, "gdn_") || strings.Contains(a.TokenHash, token) {
		t.Errorf("token %q, hash %q", token, a.TokenHash)
	}
	want := map[string]string{
		"team":                           "shop",
		service.MetadataTokenName:        "ci",
		service.MetadataTokenDescription: "for CI",
		service.MetadataTokenNamespace:   "default",
		service.MetadataTokenCreatedBy:   "token:maker",
	}
	if diff := cmp.Diff(want, a.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if namespace, limited := a.Scope(); namespace != "default" || !limited {
		t.Errorf("scope %q, %t", namespace, limited)
	}
	for _, in := range []service.TokenInput{
		{}, {Name: "n", Namespace: "  "}, {Name: "n", Namespace: "a/b"},
		{Name: "n", Metadata: map[string]string{service.MetadataTokenCreatedBy: "forged"}},
	} {
		if _, _, err := s.CreateToken(t.Context(), service.Write{}, in); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%+v: got error %v, want an InvalidArgument", in, err)
		}
	}
}

// An expired token is rejected immediately, listed until the grace period has passed,
// and then deleted. Other tokens are kept (operations 1.12).
func TestCleanupAuthentications(t *testing.T) {
	s := newService(t)
	ctx := t.Context()
	now := time.Now()
	tokens := map[string]string{}
	for name, expiry := range map[string]*time.Time{
		"long ago": new(now.Add(-2 * time.Hour)), "just now": new(now.Add(-time.Minute)), "later": new(now.Add(time.Hour)), "never": nil,
	} {
		token, _, err := s.CreateToken(ctx, service.Write{}, service.TokenInput{Name: name, ExpiresAt: expiry})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = token
	}
	for name, works := range map[string]bool{"long ago": false, "just now": false, "later": true, "never": true} {
		if _, _, err := s.Authenticate(t.Context(), service.Demand{}, "", tokens[name]); works != (err == nil) {
			t.Errorf("%s: error %v, want a valid token: %t", name, err, works)
		}
	}
	deleted, err := s.CleanupAuthentications(ctx, service.Write{}, service.MethodToken, time.Hour)
	if deleted != 1 || err != nil {
		t.Errorf("deleted %d, error %v; want 1", deleted, err)
	}
	left, _, err := s.ListAuthentications(ctx, service.Demand{}, service.AuthenticationFilter{}, 0, "")
	if len(left) != 3 || err != nil {
		t.Errorf("%d are left, error %v; want 3", len(left), err)
	}
	if deleted, err := s.CleanupAuthentications(ctx, service.Write{}, service.MethodToken, time.Hour); deleted != 0 || err != nil {
		t.Errorf("again: deleted %d, error %v; want none", deleted, err)
	}
}

// An absent expiry means never. The zero time is a time like any other.
func TestTokenExpiry(t *testing.T) {
	s := newService(t)
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for name, tt := range map[string]struct {
		at    *time.Time
		want  time.Time
		valid bool
	}{
		"absent":                  {nil, time.Time{}, true},
		"the zero time":           {new(time.Time{}), time.Unix(0, 0), false},
		"the zero time elsewhere": {new(time.Time{}.In(time.FixedZone("", 3600))), time.Unix(0, 0), false},
		"less than a microsecond": {new(time.Time{}.Add(1)), time.Unix(0, 0), false},
		"before 1970":             {new(time.Unix(0, -1)), time.Unix(0, 0), false},
		"1970":                    {new(time.Unix(0, 999)), time.Unix(0, 0), false},
		"the past":                {new(time.Unix(1, 0)), time.Unix(1, 0), false},
		"nanoseconds":             {new(soon.Add(999)), soon, true},
		"the last time":           {new(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC), true},
	} {
		t.Run(name, func(t *testing.T) {
			token, a, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "n", ExpiresAt: tt.at})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.GetAuthentication(t.Context(), service.Demand{}, a.ID)
			if err != nil || !stored.ExpiresAt.Equal(tt.want) || !a.ExpiresAt.Equal(tt.want) {
				t.Errorf("got %v, stored %v, error %v; want %v", a.ExpiresAt, stored.ExpiresAt, err, tt.want)
			}
			if _, _, err := s.Authenticate(t.Context(), service.Demand{}, "", token); (err == nil) != tt.valid {
				t.Errorf("got error %v, want the token to be valid: %t", err, tt.valid)
			}
		})
	}
}

// The caller may end its own authentication or bring its expiry forward, but not extend
// it.
func TestExpireSelf(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	hour := now.Add(time.Hour)
	for name, tt := range map[string]struct {
		own, at  *time.Time
		rejected bool
		valid    bool      // afterwards
		want     time.Time // zero is about now
	}{
		"never, now":           {nil, nil, false, false, time.Time{}},
		"never, later":         {nil, &hour, false, true, hour},
		"never, the zero time": {nil, new(time.Time{}), false, false, time.Unix(0, 0)},
		"expires, now":         {&hour, nil, false, false, time.Time{}},
		"expires, sooner":      {&hour, new(now.Add(time.Minute)), false, true, now.Add(time.Minute)},
		"expires, the same":    {&hour, &hour, false, true, hour},
		"expires, later in a unit that is not stored": {&hour, new(hour.Add(999)), false, true, hour},
		"expires, later":         {&hour, new(hour.Add(time.Microsecond)), true, true, hour},
		"expires, much later":    {&hour, new(now.Add(48 * time.Hour)), true, true, hour},
		"expires, the zero time": {&hour, new(time.Time{}), false, false, time.Unix(0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			mustCreateToken(t, s, service.TokenInput{}) // another administrator
			token, a, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "n", ExpiresAt: tt.own})
			if err != nil {
				t.Fatal(err)
			}
			by := service.Write{By: service.Caller{Authentication: a}}
			if err := s.ExpireSelf(t.Context(), by, tt.at); errors.Is(err, guidon.InvalidArgument) != tt.rejected || (err != nil) != tt.rejected {
				t.Errorf("got error %v, want InvalidArgument: %t", err, tt.rejected)
			}
			got, err := s.GetAuthentication(t.Context(), service.Demand{}, a.ID)
			if err != nil || tt.want.IsZero() && got.ExpiresAt.Sub(now) > time.Minute || !tt.want.IsZero() && !got.ExpiresAt.Equal(tt.want) {
				t.Errorf("expiry %v, error %v; want %v", got.ExpiresAt, err, tt.want)
			}
			if _, _, err := s.Authenticate(t.Context(), service.Demand{}, "", token); (err == nil) != tt.valid {
				t.Errorf("got error %v afterwards, want the token to be valid: %t", err, tt.valid)
			}
		})
	}
	if err := newService(t).ExpireSelf(t.Context(), service.Write{}, nil); !errors.Is(err, guidon.Unauthenticated) {
		t.Errorf("got error %v without an authentication, want Unauthenticated", err)
	}
}

// A credential that expired after the request was authenticated stays expired.
func TestExpireSelfTooLate(t *testing.T) {
	s := newService(t)
	past := time.Now().Add(-time.Minute)
	_, a, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "n", ExpiresAt: &past})
	if err != nil {
		t.Fatal(err)
	}
	by := service.Write{By: service.Caller{Authentication: a}}
	for _, at := range []*time.Time{nil, new(time.Now().Add(time.Hour))} {
		if err := s.ExpireSelf(t.Context(), by, at); !errors.Is(err, guidon.Unauthenticated) {
			t.Errorf("%v: got error %v, want Unauthenticated", at, err)
		}
	}
}
