package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// twoStores opens the same database twice, as two instances do.
func twoStores(t *testing.T) [2]*store.DB {
	t.Helper()
	path := storetest.NewSQLiteFile(t)
	var both [2]*store.DB
	for i := range both {
		db, err := store.Open(t.Context(), "file:"+path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		both[i] = db
	}
	return both
}

// usualPolicy admits everybody, with the default roles.
func usualPolicy() *service.Policy {
	return &service.Policy{Enforced: true, Defaults: usual, Admissions: everyone}
}

// twoInstances returns two services on the same database.
func twoInstances(t *testing.T) [2]*service.Service {
	t.Helper()
	var both [2]*service.Service
	for i, db := range twoStores(t) {
		both[i] = service.NewService(db, time.Now).WithPolicy(usualPolicy())
	}
	return both
}

func newSignInService(t *testing.T) *service.Service {
	t.Helper()
	return newService(t).WithPolicy(usualPolicy())
}

func identityOf(name string) *service.Identity {
	return &service.Identity{
		Method: service.MethodOIDC, Provider: "google", Subject: "oidc:google:sub:" + name,
		Subjects: []string{"oidc:google:email:" + name + "@example.com"}, SID: "sid of " + name,
		Metadata: map[string]string{"io.service.auth.oidc.name": name},
	}
}

// attempt is a sign-in that succeeds.
func attempt(name, digest string) service.SignIn {
	return service.SignIn{
		Identity: identityOf(name), Client: service.ClientBrowser, Lifetime: time.Hour, Most: 20,
		Attempt: digest, Until: time.Now().Add(time.Hour),
	}
}

func mustSignIn(t testing.TB, s *service.Service, in service.SignIn) (string, *service.Authentication) {
	t.Helper()
	token, a, err := s.SignIn(t.Context(), service.Write{}, in)
	if err != nil {
		t.Fatalf("SignIn: %v", err)
	}
	return token, a
}

func mustAuthenticate(t testing.TB, s *service.Service, token string) *service.Authentication {
	t.Helper()
	a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", token)
	if err != nil {
		t.Fatalf("Authenticate: %v", err)
	}
	return a
}

func mustCreateToken(t testing.TB, s *service.Service, in service.TokenInput) (string, *service.Authentication) {
	t.Helper()
	if in.Name == "" {
		in.Name = "token"
	}
	token, _, err := s.CreateToken(t.Context(), service.Write{}, in)
	if err != nil {
		t.Fatalf("CreateToken: %v", err)
	}
	return token, mustAuthenticate(t, s, token)
}

func by(a *service.Authentication) service.Write {
	return service.Write{By: service.Caller{Authentication: a, Actor: a.Actor(), RequestID: "request"}}
}

func allAuthentications(t testing.TB, s *service.Service) (all []*service.Authentication) {
	t.Helper()
	for page := ""; ; {
		list, next, err := s.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{}, 100, page)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, list...); next == "" {
			return all
		}
		page = next
	}
}

// wantIDs checks which authentications there are, in creation order.
func wantIDs(t testing.TB, what string, s *service.Service, want ...*service.Authentication) {
	t.Helper()
	var got, wanted []string
	for _, a := range allAuthentications(t, s) {
		got = append(got, a.ID)
	}
	for _, a := range want {
		wanted = append(wanted, a.ID)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s: authentications (-want +got):\n%s", what, diff)
	}
}

func wantCode(t testing.TB, what string, err error, code guidon.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%s: got error %v, want %v", what, err, code)
	}
}

// interrupted is a store in which something happens just before a transaction.
type interrupted struct {
	service.Store
	happens func()
}

func (s *interrupted) UpdateAuthentications(ctx context.Context, w service.Write, fn func(context.Context, service.AuthenticationTx) error) error {
	if happens := s.happens; happens != nil {
		s.happens = nil
		happens()
	}
	return s.Store.UpdateAuthentications(ctx, w, fn)
}
