package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

func bind(t testing.TB, s service.Store, id string, role service.Role) {
	t.Helper()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.PutBinding(ctx, &service.Binding{ID: id, Role: role, Subject: "jwt:*", Namespaces: []string{service.Everywhere}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func unbind(t testing.TB, s service.Store, id string) {
	t.Helper()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.DeleteBinding(ctx, id)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bound returns the bindings that the store has, such as "a:viewer b:admin".
func bound(t testing.TB, s service.Store, d service.Demand) (text string) {
	t.Helper()
	set, _, err := s.Authentications(t.Context(), d, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range set.Bindings().All() {
		if i > 0 {
			text += " "
		}
		text += b.ID + ":" + b.Role.String()
	}
	return text
}

// An instance sees the bindings that another has acknowledged: with its next request if it
// is strict, and with the next that demands it otherwise.
func TestBindingsOfAnotherInstance(t *testing.T) {
	for name, test := range map[string]struct {
		freshness cache.Freshness
		demand    service.Demand
	}{
		"strict":  {cache.Freshness{}, service.Demand{}},
		"bounded": {modes["bounded"], service.Demand{Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			db := openSQLite(t)
			writer, reader := cache.NewShared(db, test.freshness), cache.NewShared(db, test.freshness)
			want := func(what, text string) {
				t.Helper()
				for instance, s := range map[string]service.Store{"writer": writer, "reader": reader} {
					d := test.demand
					if s == writer {
						d = service.Demand{}
					}
					if got := bound(t, s, d); got != text {
						t.Errorf("%s: the %s has bindings %q, want %q", what, instance, got, text)
					}
				}
			}
			want("at the start", "")
			bind(t, writer, "a", service.RoleViewer)
			want("created", "a:viewer")
			bind(t, writer, "b", service.RoleAdmin)
			bind(t, writer, "a", service.RoleNone)
			want("replaced", "a:none b:admin")
			putToken(t, writer, "token")
			want("beside a token", "a:none b:admin")
			unbind(t, writer, "a")
			unbind(t, writer, "b")
			want("deleted", "")
		})
	}
}

// A write of this instance leaves the bindings in memory as they are stored, without a load,
// however much it changes.
func TestBindingsAfterOwnWrite(t *testing.T) {
	s := newSource(t)
	c := cache.NewShared(s, cache.Freshness{})
	bind(t, c, "a", service.RoleViewer)
	if got := bound(t, c, service.Demand{}); got != "a:viewer" {
		t.Fatalf("got %q", got)
	}
	s.mu.Lock()
	before := s.calls["LoadAuthentications"]
	s.mu.Unlock()
	bind(t, c, "b", service.RoleAdmin)
	putToken(t, s.DB, "of another instance")
	err := c.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		for i := range 600 {
			id := fmt.Sprint("many-", i)
			if err := tx.PutAuthentication(ctx, &service.Authentication{ID: id, Method: service.MethodToken, TokenHash: "hash of " + id}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := bound(t, c, service.Demand{}); got != "a:viewer b:admin" {
		t.Errorf("after many changes: got %q", got)
	}
	if n := len(tokens(t, c).All()); n != 601 {
		t.Errorf("got %d tokens, want 601", n)
	}
	if after := s.calls["LoadAuthentications"]; after != before {
		t.Errorf("%d loads, want none", after-before)
	}
}

// A write that fails leaves the bindings in memory as they were.
func TestBindingsAfterFailure(t *testing.T) {
	failed := errors.New("failed")
	c := cache.NewShared(openSQLite(t), cache.Freshness{})
	bind(t, c, "a", service.RoleViewer)
	err := c.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return errors.Join(tx.DeleteBinding(ctx, "a"), failed)
	})
	if got := bound(t, c, service.Demand{}); !errors.Is(err, failed) || got != "a:viewer" {
		t.Errorf("got %q, %v", got, err)
	}
}

// Two instances bind at the same time. Both see all of it in the end, and their own at once.
func TestBindingsOfTwoWriters(t *testing.T) {
	db := openSQLite(t)
	both := [2]*cache.Shared{cache.NewShared(db, cache.Freshness{}), cache.NewShared(db, cache.Freshness{})}
	var writing sync.WaitGroup
	for i, s := range both {
		writing.Go(func() {
			for n := range 20 {
				id := fmt.Sprint(i, "-", n)
				bind(t, s, id, service.RoleViewer)
				found := false
				for _, b := range tokens(t, s).Bindings().All() {
					found = found || b.ID == id
				}
				if !found {
					t.Errorf("instance %d does not see its binding %s", i, id)
				}
			}
		})
	}
	writing.Wait()
	for i, s := range both {
		if n := len(tokens(t, s).Bindings().All()); n != 40 {
			t.Errorf("instance %d has %d bindings, want 40", i, n)
		}
	}
}
