package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

// sessionOf returns an authentication of the subject.
func sessionOf(subject, id string) *service.Authentication {
	a := newAuthentication(id)
	a.Method, a.Subject, a.Client = service.MethodOIDC, subject, service.ClientBrowser
	a.Subjects, a.Roles, a.SID = []string{"oidc:google:group:a"}, []string{"viewer"}, "sid"
	return a
}

// wantOfOwner checks which authentications of the owner a transaction finds.
func wantOfOwner(t testing.TB, what string, s service.Store, owner string, want ...string) {
	t.Helper()
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		got, err := tx.OfOwner(ctx, owner)
		if !cmp.Equal(append([]string{}, want...), ids(got)) {
			t.Errorf("%s: %.40q has %q, want %q", what, owner, ids(got), want)
		}
		return err
	})
}

func testOfOwner(t *testing.T, s service.Store) {
	long := "oidc:google:sub:" + strings.Repeat("é", 255)
	subjects := []string{"oidc:google:sub:1", "oidc:google:sub:1 ", "oidc:google:sub:A", "oidc:google:sub:a", long}
	for i, subject := range subjects {
		putAuthentication(t, s, sessionOf(subject, fmt.Sprint("z-", i)), sessionOf(subject, fmt.Sprint("a-", i)))
	}
	putAuthentication(t, s, newAuthentication("token"))
	for i, subject := range subjects {
		wantOfOwner(t, "created", s, subject, fmt.Sprint("z-", i), fmt.Sprint("a-", i))
	}
	begun := newAuthentication("begun")
	begun.Parent, begun.Client = "token", service.ClientBrowser
	putAuthentication(t, s, begun)
	wantOfOwner(t, "of a token", s, "token:token", "begun")
	for _, nobody := range []string{"", "token", "token:begun", "oidc:google:sub:2", "oidc:google:sub:1\x00", "\xff"} {
		wantOfOwner(t, "nobody", s, nobody)
	}
	set := authentications(t, s)
	if got := set.ByID("z-4"); got == nil || got.Subject != long || got.SID != "sid" || len(got.Subjects) != 1 || len(got.Roles) != 1 || got.Client != service.ClientBrowser {
		t.Errorf("stored is %+v", got)
	}

	const first = "oidc:google:sub:1"
	rotated := sessionOf(first, "z-0")
	rotated.TokenHash = "another hash"
	putAuthentication(t, s, rotated)
	wantOfOwner(t, "rotated", s, first, "z-0", "a-0")
	updateAuthentications(t, s, inOneUpdate(deleteTokens("z-0"), putTokens(sessionOf(first, "z-0"))))
	wantOfOwner(t, "deleted and created again", s, first, "a-0", "z-0")
	putAuthentication(t, s, sessionOf("oidc:google:sub:other", "z-0"))
	wantOfOwner(t, "after the subject changed", s, first, "a-0")
	wantOfOwner(t, "after the subject changed", s, "oidc:google:sub:other", "z-0")
	putAuthentication(t, s, newAuthentication("z-0"))
	wantOfOwner(t, "after it has none", s, "oidc:google:sub:other")

	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		if err := errors.Join(tx.PutAuthentication(ctx, sessionOf(first, "new")), tx.DeleteAuthentication(ctx, "a-0")); err != nil {
			return err
		}
		got, err := tx.OfOwner(ctx, first)
		if want := []string{"new"}; err != nil || !cmp.Equal(ids(got), want) {
			t.Errorf("inside: got %q, %v, want %q", ids(got), err, want)
		}
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v, want the function's error", err)
	}
	wantOfOwner(t, "after a rollback", s, first, "a-0")
}

func testOfMethod(t *testing.T, s service.Store) {
	for _, id := range []string{"z", "b", "a"} {
		token, session := newAuthentication(id), newAuthentication("session-"+id)
		session.Method = service.MethodOIDC
		putAuthentication(t, s, token, session)
	}
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		if err := tx.DeleteAuthentication(ctx, "b"); err != nil {
			return err
		}
		for method, want := range map[service.Method][]string{
			service.MethodToken: {"z", "a"}, service.MethodOIDC: {"session-z", "session-b", "session-a"}, service.MethodKubernetes: {},
		} {
			got, err := tx.OfMethod(ctx, method)
			if err != nil {
				return err
			}
			if !cmp.Equal(ids(got), want) {
				t.Errorf("%v: got %q, want %q", method, ids(got), want)
			}
		}
		return nil
	})
}
