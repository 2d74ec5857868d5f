package service_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

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
	wantCode(t, "an identity without record", s.RevokeSelf(t.Context(), by(jwt), true), guidon.InvalidArgument)
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
