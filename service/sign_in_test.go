package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// twoStores opens the same database twice, as two instances do.
func twoStores(t *testing.T) [2]*store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	var both [2]*store.DB
	for i := range both {
		db, err := store.Open(t.Context(), "file:"+path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		both[i] = db
	}
	if _, err := migrate.Up(t.Context(), both[0].SQL(), both[0].Dialect()); err != nil {
		t.Fatal(err)
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

// TestSignIn: the session has the identity, ends after its lifetime, and is found by its
// token only.
func TestSignIn(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
	in := attempt("ada", "digest")
	in.Identity.Roles = []string{"editor@shop"}
	before := time.Now()
	token, session := mustSignIn(t, s, in)
	got := mustAuthenticate(t, s, token)
	if got.ID != session.ID || got.Subject != in.Identity.Subject || got.SID != in.Identity.SID || got.Client != service.ClientBrowser ||
		!slices.Equal(got.Subjects, in.Identity.Subjects) || got.Method != service.MethodOIDC || roles(got) != "editor@shop" {
		t.Errorf("got %+v", got)
	}
	if end := got.ExpiresAt; end.Before(before.Add(time.Hour-time.Millisecond)) || end.After(time.Now().Add(time.Hour)) || !end.Equal(session.ExpiresAt) {
		t.Errorf("it ends at %v, and the answer says %v", end, session.ExpiresAt)
	}
	if spent, err := db.Spent(t.Context(), "digest"); !spent || err != nil {
		t.Errorf("the attempt is used: %t, %v", spent, err)
	}
	later := service.NewService(db, func() time.Time { return time.Now().Add(time.Hour) }).WithPolicy(usualPolicy())
	_, _, err := later.Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "after an hour", err, guidon.Unauthenticated)
	again, _ := mustSignIn(t, s, attempt("ada", "another"))
	if again == token {
		t.Error("two sessions have the same token")
	}
}

// TestSignInOnce: of many callbacks of one attempt, on two instances, one makes a session.
func TestSignInOnce(t *testing.T) {
	both := twoInstances(t)
	var mu sync.Mutex
	var tokens []string
	var signingIn sync.WaitGroup
	for i := range 16 {
		signingIn.Go(func() {
			token, _, err := both[i%2].SignIn(t.Context(), service.Write{}, attempt(fmt.Sprint("person-", i%3), "digest"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				tokens = append(tokens, token)
			case !errors.Is(err, guidon.Unauthenticated):
				t.Errorf("got error %v, want Unauthenticated", err)
			case token != "":
				t.Error("a token was returned beside an error")
			}
		})
	}
	signingIn.Wait()
	if all := allAuthentications(t, both[0]); len(all) != 1 || len(tokens) != 1 {
		t.Fatalf("got %d sessions and %d tokens, want 1", len(all), len(tokens))
	}
	mustAuthenticate(t, both[1], tokens[0])
}

// TestSignInReplaces: the session that the browser had ends, but no static token does.
func TestSignInReplaces(t *testing.T) {
	for _, test := range []struct {
		name string
		had  func(t *testing.T, s *service.Service) *service.Authentication
		ends bool
	}{
		{"one's own session", func(t *testing.T, s *service.Service) *service.Authentication {
			_, a := mustSignIn(t, s, attempt("ada", "had"))
			return a
		}, true},
		{"somebody else's", func(t *testing.T, s *service.Service) *service.Authentication {
			_, a := mustSignIn(t, s, attempt("bob", "had"))
			return a
		}, true},
		{"that of a token", func(t *testing.T, s *service.Service) *service.Authentication {
			_, token := mustCreateToken(t, s, service.TokenInput{})
			_, a, err := s.BeginSession(t.Context(), by(token), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}, true},
		{"a token", func(t *testing.T, s *service.Service) *service.Authentication {
			_, a := mustCreateToken(t, s, service.TokenInput{})
			return a
		}, false},
		{"one that has ended", func(*testing.T, *service.Service) *service.Authentication {
			return &service.Authentication{ID: "unknown"}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSignInService(t)
			had := test.had(t, s)
			in := attempt("ada", "digest")
			in.Replaced = had.ID
			_, session := mustSignIn(t, s, in)
			_, err := s.GetAuthentication(t.Context(), service.Demand{}, had.ID)
			if ended := errors.Is(err, guidon.NotFound); ended != test.ends {
				t.Errorf("it has ended: %t, %v, want %t", ended, err, test.ends)
			}
			if _, err := s.GetAuthentication(t.Context(), service.Demand{}, session.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSignInMost: the oldest sessions of the subject give way, and nobody else's.
func TestSignInMost(t *testing.T) {
	s := newSignInService(t)
	_, other := mustSignIn(t, s, attempt("bob", "bob"))
	_, token := mustCreateToken(t, s, service.TokenInput{})
	kept := []*service.Authentication{other, token}
	for i := range 6 {
		in := attempt("ada", fmt.Sprint("ada-", i))
		in.Most = 3
		_, a := mustSignIn(t, s, in)
		kept = append(kept, a)
		if len(kept) > 5 {
			kept = slices.Delete(kept, 2, 3)
		}
		wantIDs(t, fmt.Sprint("after ", i), s, kept...)
	}
	in := attempt("ada", "fewer")
	in.Most = 1
	_, last := mustSignIn(t, s, in)
	wantIDs(t, "with a lower limit", s, other, token, last)
	in = attempt("ada", "replacing")
	in.Most, in.Replaced = 1, last.ID
	_, next := mustSignIn(t, s, in)
	wantIDs(t, "replacing the only one", s, other, token, next)
}

// TestTokenSessionsMost: the same holds for the sessions of a static token, which do not
// count for another.
func TestTokenSessionsMost(t *testing.T) {
	s := newSignInService(t)
	_, one := mustCreateToken(t, s, service.TokenInput{})
	_, two := mustCreateToken(t, s, service.TokenInput{})
	kept := []*service.Authentication{one, two}
	for i := range 8 {
		token := kept[i%2]
		_, a, err := s.BeginSession(t.Context(), by(token), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour, Most: 2})
		if err != nil {
			t.Fatal(err)
		}
		if kept = append(kept, a); len(kept) > 6 {
			kept = slices.Delete(kept, 2, 3)
		}
		wantIDs(t, fmt.Sprint("after ", i), s, kept...)
	}
}

// TestSignInMostConcurrently: 30 people of one name at once, on two instances, never have
// more sessions than allowed.
func TestSignInMostConcurrently(t *testing.T) {
	const most = 4
	both := twoInstances(t)
	var signingIn sync.WaitGroup
	for i := range 30 {
		signingIn.Go(func() {
			in := attempt("ada", fmt.Sprint("digest-", i))
			in.Most = most
			s := both[i%2]
			token, _, err := s.SignIn(t.Context(), service.Write{}, in)
			if err != nil || token == "" {
				t.Error(err)
				return
			}
			page, _, err := s.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{Subject: in.Identity.Subject}, 100, "")
			if err != nil || len(page) > most {
				t.Errorf("%d sessions, %v, want at most %d", len(page), err, most)
			}
		})
	}
	signingIn.Wait()
	if n := len(allAuthentications(t, both[0])); n != most {
		t.Errorf("%d sessions are left, want %d", n, most)
	}
}

// TestSignInRefused: whoever is not admitted or has no role gets no session, and changes
// nothing.
func TestSignInRefused(t *testing.T) {
	for name, p := range map[string]*service.Policy{
		"not admitted":               {Enforced: true, Defaults: usual, Admissions: map[string]service.Admission{"oidc:google": &service.AllowList{Subjects: []string{"oidc:google:email:bob@example.com"}}}},
		"not admitted, no roles":     {Admissions: map[string]service.Admission{"oidc:google": &service.AllowList{}}},
		"a provider that is gone":    {Enforced: true, Defaults: usual},
		"no role":                    {Enforced: true, Admissions: everyone},
		"the default role none":      {Enforced: true, Defaults: service.DefaultRoles{service.MethodOIDC: service.RoleNone}, Admissions: everyone},
		"a binding of somebody else": {Enforced: true, Admissions: everyone, Bindings: configured(t, "admin=oidc:google:sub:bob")},
	} {
		t.Run(name, func(t *testing.T) {
			db := newStore(t)
			s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
			_, had := mustSignIn(t, s, attempt("ada", "had"))
			set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
			if err != nil {
				t.Fatal(err)
			}
			in := attempt("ada", "digest")
			in.Replaced, in.Most = had.ID, 1
			token, a, err := s.WithPolicy(p).SignIn(t.Context(), service.Write{}, in)
			wantCode(t, name, err, guidon.PermissionDenied)
			var refusal *guidon.Error
			if errors.As(err, &refusal); refusal == nil || strings.Contains(refusal.Message, "ada") || refusal.Err == nil {
				t.Errorf("got %+v, want a message that does not say who, and a cause", refusal)
			}
			if token != "" || a != nil {
				t.Errorf("got %q, %+v", token, a)
			}
			if after, _, err := db.Authentications(t.Context(), service.Demand{}, ""); err != nil || after.Revision() != set.Revision() {
				t.Errorf("something has changed: %v, %v", after.Revision(), err)
			}
			if spent, err := db.Spent(t.Context(), "digest"); spent || err != nil {
				t.Errorf("the attempt is used: %t, %v", spent, err)
			}
		})
	}
}

// TestSignInAgain: the session of the command line has the identity of the browser's, and a
// name and an end of its own.
func TestSignInAgain(t *testing.T) {
	s := newSignInService(t)
	in := attempt("ada", "digest")
	in.Identity.Roles = []string{"editor@shop"}
	_, browser := mustSignIn(t, s, in)
	grant := service.SignIn{Client: service.ClientCLI, Name: "laptop", Lifetime: time.Minute, Most: 20, Attempt: "grant", Until: time.Now().Add(time.Minute)}
	token, _, err := s.SignInAgain(t.Context(), service.Write{}, browser.ID, grant)
	if err != nil {
		t.Fatal(err)
	}
	got := mustAuthenticate(t, s, token)
	if got.Client != service.ClientCLI || got.Subject != browser.Subject || got.SID != browser.SID || roles(got) != "editor@shop" ||
		got.Metadata[service.MetadataSessionName] != "laptop" || got.Metadata["io.service.auth.oidc.name"] != "ada" || time.Until(got.ExpiresAt) > time.Minute {
		t.Errorf("got %+v", got)
	}
	stored, err := s.GetAuthentication(t.Context(), service.Demand{}, browser.ID)
	if err != nil || stored.Metadata[service.MetadataSessionName] != "" {
		t.Errorf("the browser's session is %+v, %v", stored, err)
	}
	_, _, err = s.SignInAgain(t.Context(), service.Write{}, browser.ID, grant)
	wantCode(t, "the same grant again", err, guidon.Unauthenticated)
	grant.Attempt = "second grant"
	_, _, err = s.SignInAgain(t.Context(), service.Write{}, "unknown", grant)
	wantCode(t, "an unknown session", err, guidon.Unauthenticated)
	_, _, err = s.WithPolicy(&service.Policy{Enforced: true}).SignInAgain(t.Context(), service.Write{}, browser.ID, grant)
	wantCode(t, "no longer admitted", err, guidon.Unauthenticated)
	if err := s.EndSession(t.Context(), by(got), browser.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.SignInAgain(t.Context(), service.Write{}, browser.ID, grant)
	wantCode(t, "a session that has ended", err, guidon.Unauthenticated)

	// That of a token has that as its parent, too.
	_, ci := mustCreateToken(t, s, service.TokenInput{Role: service.RoleViewer})
	_, page, err := s.BeginSession(t.Context(), by(ci), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err = s.SignInAgain(t.Context(), service.Write{}, page.ID, grant)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustAuthenticate(t, s, token); got.Parent != ci.ID || got.Subject != "" || roles(got) != "viewer@*" || got.Actor().ID != "token:"+ci.ID {
		t.Errorf("got %+v", got)
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

// TestSignInAgainRace: a session that ends after it was found has no more sessions.
func TestSignInAgainRace(t *testing.T) {
	db := &interrupted{Store: newStore(t)}
	s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
	_, browser := mustSignIn(t, s, attempt("ada", "digest"))
	db.happens = func() {
		if err := s.RevokeSelf(t.Context(), by(browser), true); err != nil {
			t.Error(err)
		}
	}
	_, _, err := s.SignInAgain(t.Context(), service.Write{}, browser.ID, service.SignIn{Client: service.ClientCLI, Lifetime: time.Minute, Most: 20})
	wantCode(t, "a session that has just ended", err, guidon.Unauthenticated)
}

// TestEndSessionsOfRace: a session that began just before a logout token is used ends.
func TestEndSessionsOfRace(t *testing.T) {
	db := &interrupted{Store: newStore(t)}
	s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
	db.happens = func() { mustSignIn(t, s, attempt("ada", "digest")) }
	ended, err := s.EndSessionsOf(t.Context(), service.Write{}, service.SignOut{
		Provider: "oidc:google", SID: "sid of ada", Digest: "logout", Until: time.Now().Add(time.Minute),
	})
	if ended != 1 || err != nil {
		t.Errorf("%d sessions have ended, %v; want 1", ended, err)
	}
}

func TestBeginSession(t *testing.T) {
	s := newSignInService(t)
	soon := time.Now().Add(time.Minute).UTC().Truncate(time.Microsecond)
	in := service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour}
	_, person := mustSignIn(t, s, attempt("ada", "digest"))
	_, viewer := mustCreateToken(t, s, service.TokenInput{Role: service.RoleViewer, Namespaces: []string{"shop"}, ExpiresAt: &soon})
	_, client := mustCreateToken(t, s, service.TokenInput{Role: service.RoleClient})
	token, session, err := s.BeginSession(t.Context(), by(viewer), in)
	if err != nil {
		t.Fatal(err)
	}
	got := mustAuthenticate(t, s, token)
	if got.Parent != viewer.ID || got.Subject != "" || got.Client != service.ClientBrowser || roles(got) != "viewer@shop" || !session.ExpiresAt.Equal(soon) {
		t.Errorf("got %+v", got)
	}
	for name, test := range map[string]struct {
		self *service.Authentication
		want guidon.Code
	}{
		"nobody":                     {nil, guidon.Unauthenticated},
		"an identity without record": {&service.Authentication{Method: service.MethodJWT, Subject: "jwt:sub:x"}, guidon.Unauthenticated},
		"a person":                   {person, guidon.InvalidArgument},
		"a session":                  {got, guidon.InvalidArgument},
		"a token that reads nothing": {client, guidon.PermissionDenied},
	} {
		w := service.Write{By: service.Caller{Authentication: test.self}}
		if token, _, err := s.BeginSession(t.Context(), w, in); !errors.Is(err, test.want) || token != "" {
			t.Errorf("%s: got %q, %v, want %v", name, token, err, test.want)
		}
	}
	if err := s.DeleteAuthentication(t.Context(), service.Write{}, viewer.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "after the token was deleted", err, guidon.Unauthenticated)
}

// workload is the identity of a pod whose proof expires at the given time.
func workload(expires time.Time) *service.Identity {
	return &service.Identity{
		Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:shop/checkout", Subjects: []string{"kubernetes:namespace:shop"},
		Metadata: map[string]string{"io.service.auth.k8s.namespace": "shop"}, Expires: expires,
	}
}

// TestExchange: a workload that proves itself again and again, anywhere and at once, has one
// record, which is written once.
func TestExchange(t *testing.T) {
	dbs := twoStores(t)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	both := [2]*service.Service{}
	for i, db := range dbs {
		both[i] = service.NewService(db, time.Now).WithPolicy(usualPolicy())
	}
	token := service.TokenOf([32]byte{1})
	var exchanging sync.WaitGroup
	for i := range 16 {
		exchanging.Go(func() {
			a, err := both[i%2].Exchange(t.Context(), service.Write{}, workload(expires), token)
			if err != nil || a.Subject != "kubernetes:serviceaccount:shop/checkout" || !a.ExpiresAt.Equal(expires) || a.Client != "" {
				t.Errorf("got %+v, %v", a, err)
			}
		})
	}
	exchanging.Wait()
	a := mustAuthenticate(t, both[0], token)
	wantIDs(t, "after many", both[1], a)
	if roles(a) != "client@*" || strings.Contains(a.ID, token) {
		t.Errorf("got %+v", a)
	}
	set, _, err := dbs[0].Authentications(t.Context(), service.Demand{}, "")
	if err != nil || set.Revision().Number != 1 {
		t.Errorf("the authentications are at revision %d, %v, want one write", set.Revision().Number, err)
	}
	if _, err := both[0].Exchange(t.Context(), service.Write{}, workload(expires), service.TokenOf([32]byte{2})); err != nil {
		t.Fatal(err)
	}
	if n := len(allAuthentications(t, both[0])); n != 2 {
		t.Errorf("another proof: %d records, want 2", n)
	}
	if err := both[0].DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = both[1].Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "deleted", err, guidon.Unauthenticated)
	if again, err := both[1].Exchange(t.Context(), service.Write{}, workload(expires), token); err != nil || again.ID != a.ID {
		t.Errorf("after the deletion: got %+v, %v", again, err)
	}
}

// TestExchangeAgain: a record that ended before its proof, by the maximum lifetime, lives
// again; its creation stays.
func TestExchangeAgain(t *testing.T) {
	s := newSignInService(t)
	token := service.TokenOf([32]byte{1})
	first, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(-time.Second)), token)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "ended", err, guidon.Unauthenticated)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	again, err := s.Exchange(t.Context(), service.Write{}, workload(expires), token)
	if err != nil || again.ID != first.ID || !again.ExpiresAt.Equal(expires) || !again.CreatedAt.Equal(first.CreatedAt) || again.UpdatedAt.Before(again.CreatedAt) {
		t.Errorf("got %+v, %v, after %+v", again, err, first)
	}
	mustAuthenticate(t, s, token)
	wantIDs(t, "after both", s, first)
}

func TestExchangeRefused(t *testing.T) {
	db := newStore(t)
	for name, p := range map[string]*service.Policy{
		"not allowed":  {Enforced: true, Defaults: usual, Admissions: map[string]service.Admission{"kubernetes": service.ServiceAccounts{"pay/*"}}},
		"no role":      {Enforced: true, Admissions: everyone},
		"switched off": {Enforced: true, Defaults: usual},
	} {
		s := service.NewService(db, time.Now).WithPolicy(p)
		a, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(time.Hour)), service.TokenOf([32]byte{1}))
		if wantCode(t, name, err, guidon.PermissionDenied); a != nil {
			t.Errorf("%s: got %+v", name, a)
		}
		wantIDs(t, name, s)
	}
}

// TestEndSessionsOf: a provider ends the sessions that it vouches for, of one of its
// sessions or of one person, and each of its tokens counts once.
func TestEndSessionsOf(t *testing.T) {
	for _, test := range []struct {
		name string
		out  service.SignOut
		ends []int // of the sessions below
	}{
		{"by session", service.SignOut{Provider: "oidc:google", SID: "s1"}, []int{0, 1}},
		{"by session and subject", service.SignOut{Provider: "oidc:google", SID: "s1", Subject: "oidc:google:sub:ada"}, []int{0, 1}},
		{"by session, of somebody else", service.SignOut{Provider: "oidc:google", SID: "s1", Subject: "oidc:google:sub:bob"}, nil},
		{"by subject", service.SignOut{Provider: "oidc:google", Subject: "oidc:google:sub:ada"}, []int{0, 1, 2}},
		{"an unknown session", service.SignOut{Provider: "oidc:google", SID: "s9"}, nil},
		{"another provider, the same session", service.SignOut{Provider: "oidc:entra", SID: "s1"}, []int{4}},
		{"another provider, subject of the first", service.SignOut{Provider: "oidc:entra", Subject: "oidc:google:sub:ada"}, nil},
		{"nothing", service.SignOut{Provider: "oidc:google", Subject: ""}, nil},
		{"a provider of none", service.SignOut{Provider: "token"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := newStore(t)
			s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
			var all []*service.Authentication
			for i, c := range []struct{ provider, name, sid string }{{"google", "ada", "s1"}, {"google", "ada", "s1"}, {"google", "ada", "s2"}, {"google", "bob", "s3"}, {"entra", "ada", "s1"}, {"google", "eve", ""}} {
				in := attempt(c.name, fmt.Sprint(i))
				in.Identity.Provider, in.Identity.Subject, in.Identity.SID = c.provider, "oidc:"+c.provider+":sub:"+c.name, c.sid
				_, a := mustSignIn(t, s, in)
				all = append(all, a)
			}
			_, token := mustCreateToken(t, s, service.TokenInput{})
			all = append(all, token)
			test.out.Digest, test.out.Until = "logout", time.Now().Add(time.Hour)
			ended, err := s.EndSessionsOf(t.Context(), service.Write{}, test.out)
			if err != nil || ended != len(test.ends) {
				t.Errorf("ended %d, %v, want %d", ended, err, len(test.ends))
			}
			var left []*service.Authentication
			for i, a := range all {
				if !slices.Contains(test.ends, i) {
					left = append(left, a)
				}
			}
			wantIDs(t, "afterwards", s, left...)
			if spent, err := db.Spent(t.Context(), "logout"); err != nil || spent != (ended > 0) {
				t.Errorf("the logout token is used: %t, %v, want %t", spent, err, ended > 0)
			}
			if ended > 0 {
				_, err := s.EndSessionsOf(t.Context(), service.Write{}, test.out)
				wantCode(t, "the same token again", err, guidon.InvalidArgument)
			}
		})
	}
}

func TestRevokeSelf(t *testing.T) {
	s := newSignInService(t)
	_, first := mustSignIn(t, s, attempt("ada", "1"))
	_, second := mustSignIn(t, s, attempt("ada", "2"))
	_, third := mustSignIn(t, s, attempt("ada", "3"))
	_, other := mustSignIn(t, s, attempt("bob", "4"))
	_, token := mustCreateToken(t, s, service.TokenInput{})
	_, spare := mustCreateToken(t, s, service.TokenInput{})
	_, page, err := s.BeginSession(t.Context(), by(token), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name       string
		self       *service.Authentication
		everywhere bool
		left       []*service.Authentication
	}{
		{"here", first, false, []*service.Authentication{second, third, other, token, spare, page}},
		{"everywhere", second, true, []*service.Authentication{other, token, spare, page}},
		{"of a token's session", page, false, []*service.Authentication{other, token, spare}},
		{"of a token, everywhere", token, true, []*service.Authentication{other, spare}},
	} {
		if err := s.RevokeSelf(t.Context(), by(step.self), step.everywhere); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		wantIDs(t, step.name, s, step.left...)
		wantCode(t, step.name+" again", s.RevokeSelf(t.Context(), by(step.self), step.everywhere), guidon.Unauthenticated)
	}
	wantCode(t, "nobody", s.RevokeSelf(t.Context(), service.Write{}, true), guidon.Unauthenticated)
	jwt := &service.Authentication{Method: service.MethodJWT, Subject: other.Subject}
	wantCode(t, "an identity without record", s.RevokeSelf(t.Context(), by(jwt), true), guidon.Unauthenticated)
	wantIDs(t, "at the end", s, other, spare)
}

// TestSessions: everybody sees and ends their own sessions, and those only.
func TestSessions(t *testing.T) {
	s := newSignInService(t)
	_, first := mustSignIn(t, s, attempt("ada", "1"))
	_, second := mustSignIn(t, s, attempt("ada", "2"))
	_, other := mustSignIn(t, s, attempt("bob", "3"))
	ended := attempt("ada", "4")
	ended.Lifetime = -time.Second
	mustSignIn(t, s, ended)
	_, token := mustCreateToken(t, s, service.TokenInput{})
	_, stranger := mustCreateToken(t, s, service.TokenInput{})
	_, page, err := s.BeginSession(t.Context(), by(token), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	pod, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(time.Hour)), service.TokenOf([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		self *service.Authentication
		want []*service.Authentication
	}{
		"a person":                   {first, []*service.Authentication{first, second}},
		"another":                    {other, []*service.Authentication{other}},
		"a token":                    {token, []*service.Authentication{page}},
		"its session":                {page, []*service.Authentication{page}},
		"another token":              {stranger, nil},
		"a workload":                 {pod, nil},
		"an identity without record": {&service.Authentication{Method: service.MethodJWT, Subject: "jwt:sub:x"}, nil},
		"Flipt's person":             {&service.Authentication{ID: "old", Method: service.MethodOIDC}, nil},
	} {
		got, err := s.Sessions(t.Context(), service.Demand{}, test.self)
		var ids, want []string
		for _, a := range got {
			ids = append(ids, a.ID)
		}
		for _, a := range test.want {
			want = append(want, a.ID)
		}
		if diff := cmp.Diff(want, ids); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		for _, a := range []*service.Authentication{first, second, other, page, token, pod, {ID: "unknown"}} {
			if !slices.ContainsFunc(test.want, func(b *service.Authentication) bool { return a.ID == b.ID }) {
				wantCode(t, name+" ends "+a.ID, s.EndSession(t.Context(), by(test.self), a.ID), guidon.NotFound)
			}
		}
	}
	_, err = s.Sessions(t.Context(), service.Demand{}, nil)
	wantCode(t, "nobody", err, guidon.Unauthenticated)
	wantCode(t, "nobody", s.EndSession(t.Context(), service.Write{}, first.ID), guidon.Unauthenticated)
	for self, ends := range map[*service.Authentication]*service.Authentication{first: second, token: page} {
		if err := s.EndSession(t.Context(), by(self), ends.ID); err != nil {
			t.Error(err)
		}
		_, err := s.GetAuthentication(t.Context(), service.Demand{}, ends.ID)
		wantCode(t, "ended", err, guidon.NotFound)
	}
}

func TestDeleteAuthenticationsOf(t *testing.T) {
	s := newSignInService(t)
	_, first := mustSignIn(t, s, attempt("ada", "1"))
	mustSignIn(t, s, attempt("ada", "2"))
	_, other := mustSignIn(t, s, attempt("bob", "3"))
	wantCode(t, "no subject", s.DeleteAuthenticationsOf(t.Context(), service.Write{}, ""), guidon.InvalidArgument)
	for _, subject := range []string{"oidc:google:sub:nobody", first.Subject, first.Subject} {
		if err := s.DeleteAuthenticationsOf(t.Context(), service.Write{}, subject); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	wantIDs(t, "afterwards", s, other)
}

// TestSignInRecords: change records of everything name the subject, and contain neither a
// token nor its hash.
func TestSignInRecords(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithPolicy(usualPolicy())
	bearer, admin := mustCreateToken(t, s, service.TokenInput{})
	secrets := []string{bearer}
	browser, session := mustSignIn(t, s, attempt("ada", "1"))
	in := service.SignIn{Client: service.ClientCLI, Name: "laptop", Lifetime: time.Hour, Most: 20, Attempt: "2", Until: time.Now().Add(time.Hour)}
	cli, _, err := s.SignInAgain(t.Context(), service.Write{}, session.ID, in)
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := s.BeginSession(t.Context(), by(admin), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	pod := service.TokenOf([32]byte{1})
	if _, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(time.Hour)), pod); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateBinding(t.Context(), by(admin), service.RoleEditor, "oidc:google:sub:ada", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeSelf(t.Context(), by(mustAuthenticate(t, s, cli)), true); err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, browser, cli, page, pod)
	records, err := db.Changes(t.Context(), change.Query{Global: true, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(records)
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprintf("%s %s by %s", r.Action, r.Kind, r.Actor.ID))
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) || strings.Contains(string(text), service.HashToken(secret)) {
				t.Errorf("the record has a token or its hash: %s", text)
			}
		}
	}
	token, person, account := "token:"+admin.ID, "oidc:google:sub:ada", "kubernetes:serviceaccount:shop/checkout"
	want := []string{
		"create authentication by " + change.Anonymous.ID, "create authentication by " + person, "create authentication by " + person,
		"create authentication by " + token, "create authentication by " + account, "create binding by " + token,
		"delete authentication by " + person, "delete authentication by " + person,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestCleanupSessions: sessions that have ended are deleted by method.
func TestCleanupSessions(t *testing.T) {
	s := newSignInService(t)
	ended := attempt("ada", "1")
	ended.Lifetime = -time.Hour
	mustSignIn(t, s, ended)
	_, kept := mustSignIn(t, s, attempt("ada", "2"))
	for method, want := range map[service.Method]int{service.MethodToken: 0, service.MethodOIDC: 1, service.MethodKubernetes: 0} {
		if n, err := s.CleanupAuthentications(context.Background(), service.Write{}, method, time.Minute); n != want || err != nil {
			t.Errorf("%v: deleted %d, %v, want %d", method, n, err, want)
		}
	}
	wantIDs(t, "afterwards", s, kept)
}
