package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

func newAuthentication(id string) *service.Authentication {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC)
	return &service.Authentication{
		ID: id, Method: service.MethodToken, TokenHash: "hash of " + id,
		Metadata: map[string]string{"name": "<" + id + ">"}, CreatedAt: at, UpdatedAt: at,
	}
}

func updateAuthentications(t testing.TB, s service.Store, fn func(ctx context.Context, tx service.AuthenticationTx) error) {
	t.Helper()
	if err := s.UpdateAuthentications(t.Context(), service.Write{}, fn); err != nil {
		t.Fatalf("UpdateAuthentications: %v", err)
	}
}

func putAuthentication(t testing.TB, s service.Store, all ...*service.Authentication) {
	t.Helper()
	updateAuthentications(t, s, putTokens(all...))
}

// tokenChange is a part of an update of authentications and bindings.
type tokenChange = func(ctx context.Context, tx service.AuthenticationTx) error

func putTokens(all ...*service.Authentication) tokenChange {
	return func(ctx context.Context, tx service.AuthenticationTx) error {
		for _, a := range all {
			if err := tx.PutAuthentication(ctx, a); err != nil {
				return err
			}
		}
		return nil
	}
}

func deleteTokens(ids ...string) tokenChange {
	return func(ctx context.Context, tx service.AuthenticationTx) error {
		for _, id := range ids {
			if err := tx.DeleteAuthentication(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
}

func authentications(t testing.TB, s service.Store) *service.AuthenticationSet {
	t.Helper()
	set, _, err := s.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatalf("Authentications: %v", err)
	}
	return set
}

// wantSet checks that the set has the authentications and bindings that another has.
func wantSet(t testing.TB, what string, want, got *service.AuthenticationSet) {
	t.Helper()
	wantEqual(t, what+": revision", want.Revision(), got.Revision())
	wantEqual(t, what, want.All(), got.All(), cmpopts.IgnoreUnexported(service.Authentication{}), cmpopts.EquateEmpty())
	wantEqual(t, what+": bindings", want.Bindings().All(), got.Bindings().All(), cmpopts.EquateEmpty())
}

func ids(all []*service.Authentication) []string {
	return lists.Map(all, func(a *service.Authentication) string { return a.ID })
}

func testAuthenticationLifeCycle(t *testing.T, s service.Store) {
	a := newAuthentication("z")
	a.ExpiresAt = time.Date(2030, 1, 1, 1, 0, 0, 1999, time.FixedZone("", 3600))
	putAuthentication(t, s, a, newAuthentication("b"))
	putAuthentication(t, s, newAuthentication("a"))
	set := authentications(t, s)
	wantEqual(t, "order", []string{"z", "b", "a"}, ids(set.All()))
	wantEqual(t, "by id", a, set.ByID("z"), cmpopts.IgnoreUnexported(*a))
	if set.ByTokenHash("hash of z") != set.ByID("z") {
		t.Error("by token hash: not found")
	}
	if want := time.Date(2030, 1, 1, 0, 0, 0, 1000, time.UTC); !set.ByID("z").ExpiresAt.Equal(want) {
		t.Errorf("expires at %v, want %v", set.ByID("z").ExpiresAt, want)
	}
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		got, err := tx.Authentication(ctx, "b")
		if err != nil {
			return err
		}
		got.TokenHash, got.ExpiresAt = "other", tx.Now()
		_, err = tx.Authentication(ctx, "nope")
		wantCode(t, "unknown id", err, guidon.NotFound)
		return errors.Join(tx.PutAuthentication(ctx, got), tx.DeleteAuthentication(ctx, "nope"), tx.DeleteAuthentication(ctx, "z"))
	})
	changed := authentications(t, s)
	wantEqual(t, "after the change", []string{"b", "a"}, ids(changed.All()))
	if changed.ByTokenHash("other") == nil || changed.ByTokenHash("hash of b") != nil || changed.ByTokenHash("hash of z") != nil {
		t.Error("token hashes are not those stored")
	}
	if len(set.All()) != 3 {
		t.Error("the set that was read before has changed")
	}
}

func testAuthenticationMethods(t *testing.T, s service.Store) {
	for method := service.MethodNone; method <= service.MethodCloud; method++ {
		a := newAuthentication(fmt.Sprint(int(method)))
		a.Method = method
		putAuthentication(t, s, a)
		if got := authentications(t, s).ByID(a.ID); got == nil || got.Method != method {
			t.Errorf("%v: got %+v", method, got)
		}
	}
}

// The first authentication of a database is the first that was ever stored, even if
// it was deleted.
func testAuthenticationFirst(t *testing.T, s service.Store) {
	for _, step := range []struct {
		name string
		want bool
		fn   tokenChange
	}{
		{"nothing stored", true, func(context.Context, service.AuthenticationTx) error { return nil }},
		{"a rollback", true, func(ctx context.Context, tx service.AuthenticationTx) error {
			return errors.Join(tx.PutAuthentication(ctx, newAuthentication("1")), errStop)
		}},
		{"the first", true, putTokens(newAuthentication("1"))},
		{"the second", false, putTokens(newAuthentication("2"))},
		{"deleting both", false, deleteTokens("1", "2")},
		{"none left", false, func(context.Context, service.AuthenticationTx) error { return nil }},
	} {
		err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			wantEqual(t, step.name+": First", step.want, tx.First())
			return step.fn(ctx, tx)
		})
		if err != nil && !errors.Is(err, errStop) {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

func testAuthenticationUnique(t *testing.T, s service.Store) {
	putAuthentication(t, s, newAuthentication("1"), newAuthentication("2"))
	before := authentications(t, s)
	for name, fn := range map[string]tokenChange{
		"new":                putTokens(rotated("3", "hash of 1")),
		"changed":            putTokens(rotated("2", "hash of 1")),
		"both in one update": putTokens(newAuthentication("3"), rotated("4", "hash of 3")),
	} {
		err := s.UpdateAuthentications(t.Context(), service.Write{}, fn)
		wantCode(t, name, err, guidon.InvalidArgument)
		if err != nil && strings.Contains(err.Error(), "hash of") {
			t.Errorf("%s: the error shows the hash: %v", name, err)
		}
	}
	if after := authentications(t, s); after.Revision() != before.Revision() || len(after.All()) != 2 {
		t.Errorf("a rejected authentication left something behind: %q", ids(after.All()))
	}
	// Deleting one frees its hash within the same update.
	updateAuthentications(t, s, inOneUpdate(deleteTokens("1"), putTokens(rotated("5", "hash of 1"))))
	if got := authentications(t, s).ByTokenHash("hash of 1"); got == nil || got.ID != "5" {
		t.Errorf("got %+v", got)
	}
}
