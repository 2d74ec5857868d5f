package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

func newBinding(id string, role service.Role) *service.Binding {
	return &service.Binding{
		ID: id, Role: role, Subject: "oidc:google:group:" + id, Namespaces: []string{"shop", "pay-*"},
		Source: service.SourceDatabase, CreatedAt: time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC), CreatedBy: "<token:1>",
	}
}

func putBindings(all ...*service.Binding) tokenChange {
	return func(ctx context.Context, tx service.AuthenticationTx) error {
		for _, b := range all {
			if err := tx.PutBinding(ctx, b); err != nil {
				return err
			}
		}
		return nil
	}
}

func deleteBinding(id string) tokenChange {
	return func(ctx context.Context, tx service.AuthenticationTx) error { return tx.DeleteBinding(ctx, id) }
}

// wantBindings checks what loads and transactions return: the bindings, in this order.
func wantBindings(t testing.TB, what string, s service.Store, want ...*service.Binding) {
	t.Helper()
	wantEqual(t, what+": bindings of the set", want, authentications(t, s).Bindings().All(), cmpopts.EquateEmpty())
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		got, err := tx.Bindings(ctx)
		wantEqual(t, what+": bindings of a transaction", want, got.All(), cmpopts.EquateEmpty())
		return err
	})
}

func testBindingLifeCycle(t *testing.T, s service.Store) {
	wantBindings(t, "at the start", s)
	z, b, a := newBinding("z", service.RoleViewer), newBinding("b", service.RoleEditor), newBinding("a", service.RoleAdmin)
	z.CreatedAt = time.Date(2024, 5, 6, 8, 8, 9, 123999, time.FixedZone("", 3600))
	updateAuthentications(t, s, putBindings(z, b))
	updateAuthentications(t, s, putBindings(a))
	if want := time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC); !z.CreatedAt.Equal(want) || z.CreatedAt.Location() != time.UTC {
		t.Errorf("created at %v, want %v", z.CreatedAt, want)
	}
	wantBindings(t, "created", s, z, b, a)
	before := authentications(t, s)

	replaced := newBinding("z", service.RoleAdmin)
	updateAuthentications(t, s, putBindings(replaced))
	wantBindings(t, "one replaced", s, replaced, b, a)
	updateAuthentications(t, s, inOneUpdate(deleteBinding("b"), deleteBinding("nope"), deleteBinding("\x00")))
	wantBindings(t, "one deleted", s, replaced, a)
	updateAuthentications(t, s, inOneUpdate(deleteBinding("z"), putBindings(z)))
	wantBindings(t, "one deleted and created again", s, a, z)
	updateAuthentications(t, s, inOneUpdate(deleteBinding("a"), deleteBinding("z")))
	wantBindings(t, "all deleted", s)

	wantEqual(t, "the set that was read before", []*service.Binding{z, b, a}, before.Bindings().All())
}

// Transactions see their own writes, and none of those that fail leaves anything behind.
func testBindingAtomic(t *testing.T, s service.Store) {
	kept := newBinding("kept", service.RoleViewer)
	updateAuthentications(t, s, putBindings(kept))
	before := authentications(t, s).Revision()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		if err := inOneUpdate(putBindings(newBinding("new", service.RoleAdmin)), deleteBinding("kept"))(ctx, tx); err != nil {
			return err
		}
		got, err := tx.Bindings(ctx)
		if err != nil || len(got.All()) != 1 || got.All()[0].ID != "new" {
			t.Errorf("inside: got %+v, %v, want the new binding", got.All(), err)
		}
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v, want the function's error", err)
	}
	wantBindings(t, "after a rollback", s, kept)
	var dead service.AuthenticationTx
	updateAuthentications(t, s, func(_ context.Context, tx service.AuthenticationTx) error { dead = tx; return nil })
	for what, err := range map[string]error{
		"put": dead.PutBinding(t.Context(), kept), "delete": dead.DeleteBinding(t.Context(), "kept"),
		"spend": dead.Spend(t.Context(), "digest", time.Now()),
	} {
		if err == nil {
			t.Errorf("%s after the end of the transaction succeeded", what)
		}
	}
	for _, id := range []string{"a\x00", "\xff", strings.Repeat("x", 256)} {
		wantCode(t, "a binding that cannot be stored",
			s.UpdateAuthentications(t.Context(), service.Write{}, putBindings(newBinding(id, service.RoleViewer))), guidon.InvalidArgument)
	}
	updateAuthentications(t, s, putBindings(newBinding("kept", service.RoleViewer))) // the same again
	wantEqual(t, "revision: nothing was stored", before, authentications(t, s).Revision())
}

// Changes of bindings are in the change log, beside those of authentications with the same
// id, and say who made them.
func testBindingRecords(t *testing.T, s service.Store) {
	by := service.Caller{Actor: change.Actor{ID: "oidc:google:sub:1", Name: "Ada", Method: "METHOD_OIDC"}, RequestID: "request-1"}
	for _, fn := range []tokenChange{
		inOneUpdate(putTokens(newAuthentication("1")), putBindings(newBinding("1", service.RoleViewer))),
		inOneUpdate(putBindings(newBinding("2", service.RoleViewer), newBinding("1", service.RoleEditor)), deleteBinding("2"),
			deleteTokens("1")),
		deleteBinding("1"),
	} {
		mustSucceed(t, s.UpdateAuthentications(t.Context(), service.Write{By: by}, fn))
	}
	got := allChanges(t, s, change.Query{Global: true})
	want := []string{
		"1.0 create authentication 1", "1.1 create binding 1",
		"2.0 update binding 1", "2.1 delete authentication 1",
		"3.0 delete binding 1",
	}
	mustEqual(t, "records", want, brief(got))
	wantEqual(t, "records of bindings", []string{want[1], want[2], want[4]}, brief(allChanges(t, s, change.Query{Kind: change.KindBinding})))
	for _, c := range got {
		if c.Actor != by.Actor || c.RequestID != by.RequestID || c.Namespace != "" {
			t.Errorf("got record %+v", c)
		}
	}
	var before, after service.Binding
	mustSucceed(t, errors.Join(json.Unmarshal(got[2].Before, &before), json.Unmarshal(got[2].After, &after)))
	wantEqual(t, "before and after", []*service.Binding{newBinding("1", service.RoleViewer), newBinding("1", service.RoleEditor)}, []*service.Binding{&before, &after})
}

// A change of bindings is a revision of the authentications, and their set advances.
func testBindingRevision(t *testing.T, s service.Store) {
	putAuthentication(t, s, newAuthentication("1"))
	before := authentications(t, s)
	updateAuthentications(t, s, putBindings(newBinding("a", service.RoleViewer)))
	after := authentications(t, s)
	if got, want := after.Revision().Number, before.Revision().Number+1; got != want || after.Revision().Stamp == 0 {
		t.Errorf("got revision %v, want number %d", after.Revision(), want)
	}
	if len(before.Bindings().All()) != 0 || len(after.Bindings().All()) != 1 || after.ByID("1") == nil {
		t.Errorf("before %+v, after %+v and authentications %q", before.Bindings().All(), after.Bindings().All(), ids(after.All()))
	}
	putAuthentication(t, s, newAuthentication("2"))
	if got := authentications(t, s); len(got.Bindings().All()) != 1 || len(got.All()) != 2 {
		t.Errorf("after an authentication: %d bindings, authentications %q", len(got.Bindings().All()), ids(got.All()))
	}
}
