package service_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func mustBind(t testing.TB, s *service.Service, w service.Write, text string) *service.Binding {
	t.Helper()
	parsed, err := service.ParseBinding(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.CreateBinding(t.Context(), w, parsed.Role, parsed.Subject, parsed.Namespaces)
	if err != nil {
		t.Fatalf("CreateBinding(%s): %v", text, err)
	}
	return b
}

func bindingIDs(t testing.TB, s *service.Service) []string {
	t.Helper()
	all, err := s.ListBindings(t.Context(), service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	return ids
}

func TestCreateBinding(t *testing.T) {
	p := usualPolicy()
	p.Bindings = configured(t, "admin=oidc:google:sub:ada", "editor@shop=codehost:org:acme")
	db := newStore(t)
	s := service.NewService(db, time.Now).WithPolicy(p)
	_, admin := mustCreateToken(t, s, service.TokenInput{})
	b, err := s.CreateBinding(t.Context(), by(admin), service.RoleEditor, "oidc:google:email:Ada@Example.com", []string{"shop", "pay-*"})
	if err != nil {
		t.Fatal(err)
	}
	want := &service.Binding{
		ID: b.ID, Role: service.RoleEditor, Subject: "oidc:google:email:ada@example.com", Namespaces: []string{"shop", "pay-*"},
		Source: service.SourceDatabase, CreatedAt: b.CreatedAt, CreatedBy: "token:" + admin.ID,
	}
	if diff := cmp.Diff(want, b); diff != "" || b.ID == "" || time.Since(b.CreatedAt).Abs() > time.Minute {
		t.Errorf("created at %v (-want +got):\n%s", b.CreatedAt, diff)
	}
	set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"editor@shop,pay-*=oidc:google:email:ada@example.com", "editor@pay-*,shop=oidc:google:email:ADA@example.com"} {
		if again := mustBind(t, s, service.Write{}, same); again.ID != b.ID || again.CreatedBy != b.CreatedBy {
			t.Errorf("%s: got %+v, want the one that is there", same, again)
		}
	}
	if after, _, err := db.Authentications(t.Context(), service.Demand{}, ""); err != nil || after.Revision() != set.Revision() {
		t.Errorf("creating the same again changed something: %v, %v", after.Revision(), err)
	}
	ids := []string{"configuration-1", "configuration-2", b.ID}
	for _, other := range []string{
		"viewer@shop,pay-*=oidc:google:email:ada@example.com", "editor@shop=oidc:google:email:ada@example.com", "editor@shop,pay-*=oidc:google:email:bob@example.com",
		"admin=oidc:google:sub:ada", // the configuration's may go
	} {
		ids = append(ids, mustBind(t, s, service.Write{}, other).ID)
	}
	if diff := cmp.Diff(ids, bindingIDs(t, s)); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
	for name, bad := range map[string]service.Binding{
		"role": {Subject: "jwt:*"}, "subject": {Role: service.RoleAdmin, Subject: "ada"}, "namespace": {Role: service.RoleAdmin, Subject: "jwt:*", Namespaces: []string{"a*b"}},
	} {
		_, err := s.CreateBinding(t.Context(), service.Write{}, bad.Role, bad.Subject, bad.Namespaces)
		wantCode(t, name, err, guidon.InvalidArgument)
	}
}

// TestBindingTakesEffect: a binding counts from the next request, in every instance.
func TestBindingTakesEffect(t *testing.T) {
	both := twoInstances(t)
	token, _ := mustSignIn(t, both[0], attempt("ada", "digest"))
	if got := roles(mustAuthenticate(t, both[1], token)); got != "viewer@*" {
		t.Errorf("got %q at first", got)
	}
	b := mustBind(t, both[0], service.Write{}, "editor@shop=oidc:google:email:ada@example.com")
	if got := roles(mustAuthenticate(t, both[1], token)); got != "editor@shop" {
		t.Errorf("got %q when bound", got)
	}
	if err := both[0].DeleteBinding(t.Context(), service.Write{}, b.ID); err != nil {
		t.Fatal(err)
	}
	if got := roles(mustAuthenticate(t, both[1], token)); got != "viewer@*" {
		t.Errorf("got %q when no longer bound", got)
	}
}

// TestMostBindings: there are at most 1,000 bindings in the database, besides those of the
// configuration, however many are created at once.
func TestMostBindings(t *testing.T) {
	both := twoStores(t)
	p := usualPolicy()
	p.Bindings = configured(t, "admin=oidc:google:sub:ada")
	fill(t, both[0], 998)
	s := [2]*service.Service{service.NewService(both[0], time.Now).WithPolicy(p), service.NewService(both[1], time.Now).WithPolicy(p)}
	var mu sync.Mutex
	created := 0
	var creating sync.WaitGroup
	for i := range 8 {
		creating.Go(func() {
			_, err := s[i%2].CreateBinding(t.Context(), service.Write{}, service.RoleViewer, fmt.Sprint("jwt:sub:new-", i), nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else if !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "1000") {
				t.Errorf("got error %v, want InvalidArgument that names the limit", err)
			}
		})
	}
	creating.Wait()
	if n := len(bindingIDs(t, s[0])); n != 1001 || created != 2 {
		t.Errorf("%d were created, and there are %d, want 2 and 1,001", created, n)
	}
	if b := mustBind(t, s[0], service.Write{}, "viewer=jwt:sub:stored-7"); b.ID != "b-7" {
		t.Errorf("the same again at the limit: got %+v", b)
	}
	if err := s[0].DeleteBinding(t.Context(), service.Write{}, "b-7"); err != nil {
		t.Fatal(err)
	}
	mustBind(t, s[0], service.Write{}, "viewer=jwt:sub:after")
}

func TestDeleteBinding(t *testing.T) {
	p := usualPolicy()
	p.Bindings = configured(t, "viewer=jwt:*")
	s := newService(t).WithPolicy(p)
	_, admin := mustCreateToken(t, s, service.TokenInput{})
	b := mustBind(t, s, by(admin), "admin=oidc:google:sub:ada")
	err := s.DeleteBinding(t.Context(), by(admin), "configuration-1")
	if wantCode(t, "of the configuration", err, guidon.InvalidArgument); err != nil && !strings.Contains(err.Error(), "authorization.bindings") {
		t.Errorf("got %v, want the key that has it", err)
	}
	for _, id := range []string{"unknown", "", b.ID, b.ID, "configuration-2"} {
		if err := s.DeleteBinding(t.Context(), by(admin), id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if diff := cmp.Diff([]string{"configuration-1"}, bindingIDs(t, s)); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}
