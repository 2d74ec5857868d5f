package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

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
	soon := time.Now().Add(time.Minute).UTC().Truncate(time.Microsecond)
	_, ci := mustCreateToken(t, s, service.TokenInput{Role: service.RoleViewer, ExpiresAt: &soon})
	_, page, err := s.BeginSession(t.Context(), by(ci), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	grant.Lifetime = time.Hour
	token, session, err := s.SignInAgain(t.Context(), service.Write{}, page.ID, grant)
	if err != nil || !session.ExpiresAt.Equal(soon) {
		t.Fatalf("got %+v, %v, want one that ends with the token, at %v", session, err, soon)
	}
	if got := mustAuthenticate(t, s, token); got.Parent != ci.ID || got.Subject != "" || roles(got) != "viewer@*" || got.Actor().ID != "token:"+ci.ID {
		t.Errorf("got %+v", got)
	}
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
		"an identity without record": {&service.Authentication{Method: service.MethodJWT, Subject: "jwt:sub:x"}, guidon.InvalidArgument},
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
