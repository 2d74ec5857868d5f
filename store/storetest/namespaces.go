package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// A fresh store has one protected namespace (contract 4.7).
func testSeed(t *testing.T, s service.Store) {
	all, err := s.Namespaces(t.Context())
	mustSucceed(t, err)
	want := []*guidon.Namespace{{Key: "default", Name: "Default", Description: "Default namespace", Protected: true}}
	wantEqual(t, "namespaces", want, all, cmpopts.IgnoreFields(guidon.Namespace{}, "CreatedAt", "UpdatedAt"))
	if got := all[0].CreatedAt; got.IsZero() || got.Nanosecond() != 0 {
		t.Errorf("created at %v, want a whole second", got)
	}
	shot := snapshot(t, s, defaultNamespace)
	wantEqual(t, "revision", 1, shot.Revision().Number)
	if shot.Revision().Stamp == 0 {
		t.Error("the revision has no stamp")
	}
	set, _, err := s.Authentications(t.Context(), service.Demand{}, "")
	mustSucceed(t, err)
	wantEqual(t, "authentications", 0, len(set.All()))
}

func testNamespaceLifeCycle(t *testing.T, s service.Store) {
	wantEqual(t, "create: revision", 1, createNamespace(t, s, "shop"))
	putFlags(t, s, "shop", newFlag("a"))
	update(t, s, "shop", editNamespace(func(n *guidon.Namespace) { n.Name = "The shop" }))
	wantEqual(t, "name", "The shop", snapshot(t, s, "shop").Namespace().Name)
	if got := flagKeys(snapshot(t, s, "shop").Flags()); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("flags after renaming the namespace: got %q", got)
	}
	deleteNamespace(t, s, "shop")
	_, _, err := s.Snapshot(t.Context(), "shop", service.Demand{})
	wantCode(t, "snapshot of a deleted namespace", err, guidon.NotFound)
	update(t, s, "shop", func(ctx context.Context, tx service.Tx) error {
		_, err := tx.Namespace(ctx)
		wantCode(t, "deleted namespace", err, guidon.NotFound)
		_, err = tx.Flag(ctx, "a")
		wantCode(t, "flag of a deleted namespace", err, guidon.NotFound)
		if flags, err := tx.Flags(ctx); err != nil || len(flags) != 0 {
			t.Errorf("flags of a deleted namespace: got %v, %v", flags, err)
		}
		wantCode(t, "put into a deleted namespace", tx.PutFlag(ctx, newFlag("b")), guidon.NotFound)
		return tx.DeleteNamespace(ctx) // of one that does not exist: nothing
	})
	createNamespace(t, s, "shop")
	if got := snapshot(t, s, "shop").Flags(); len(got) != 0 {
		t.Errorf("a namespace created again has %d flags", len(got))
	}
}

func testNamespaceOrder(t *testing.T, s service.Store) {
	for _, key := range []string{"zebra", "ant", "mole"} {
		createNamespace(t, s, key)
	}
	wantNamespaces(t, s, "default", "zebra", "ant", "mole")
	deleteNamespace(t, s, "zebra")
	wantNamespaces(t, s, "default", "ant", "mole")
	createNamespace(t, s, "zebra")
	wantNamespaces(t, s, "default", "ant", "mole", "zebra")
	deleteNamespace(t, s, "default")
	createNamespace(t, s, "default") // as import --drop does (contract 4.7)
	wantNamespaces(t, s, "ant", "mole", "zebra", "default")
}

func wantNamespaces(t *testing.T, s service.Store, want ...string) {
	t.Helper()
	all, err := s.Namespaces(t.Context())
	mustSucceed(t, err)
	wantEqual(t, "namespaces", want, lists.Map(all, func(n *guidon.Namespace) string { return n.Key }))
}

func testUnknownNamespace(t *testing.T, s service.Store) {
	for _, key := range []string{"nope", "", "Default", "default ", "'; DROP TABLE flags; --", "\x00", "\xff"} {
		_, _, err := s.Snapshot(t.Context(), key, service.Demand{})
		wantCode(t, "snapshot of "+key, err, guidon.NotFound)
	}
	revision, err := s.Update(t.Context(), "nope", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		_, err := tx.Namespace(ctx)
		wantCode(t, "unknown namespace", err, guidon.NotFound)
		_, err = tx.Segment(ctx, "a")
		wantCode(t, "segment of an unknown namespace", err, guidon.NotFound)
		return tx.PutSegment(ctx, newSegment("a"))
	})
	wantCode(t, "put into an unknown namespace", err, guidon.NotFound)
	if revision != 0 {
		t.Errorf("got revision %d of an unknown namespace", revision)
	}
	wantNamespaces(t, s, "default")
}

// The revision of the authentications is stored next to those of the namespaces. No
// request may get it by the name of a namespace.
func testReservedNamespace(t *testing.T, s service.Store) {
	putAuthentication(t, s, newAuthentication("1"))
	const reserved = service.AuthenticationsKey
	_, _, err := s.Snapshot(t.Context(), reserved, service.Demand{})
	wantCode(t, "snapshot", err, guidon.NotFound)
	_, err = s.Update(t.Context(), reserved, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		if _, err := tx.Namespace(ctx); err == nil {
			t.Error("the reserved name is a namespace")
		}
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: reserved, Name: "x"})
	})
	wantCode(t, "update", err, guidon.InvalidArgument)
	if got := allChanges(t, s, change.Query{Namespace: reserved}); len(got) != 0 {
		t.Errorf("got %d records by the reserved name", len(got))
	}
	wantNamespaces(t, s, "default")
}
