package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

func testAuthenticationAtomic(t *testing.T, s service.Store) {
	putAuthentication(t, s, newAuthentication("1"))
	before := authentications(t, s)
	changeAll := inOneUpdate(deleteTokens("1"), putTokens(newAuthentication("2")))
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return errors.Join(changeAll(ctx, tx), errStop)
	})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v, want the function's error", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			_ = changeAll(ctx, tx)
			panic("in the middle")
		})
	}()
	after := authentications(t, s)
	if after.Revision() != before.Revision() || !cmp.Equal(ids(after.All()), []string{"1"}) {
		t.Errorf("got %q at %v, want no change since %v", ids(after.All()), after.Revision(), before.Revision())
	}
}

func testAuthenticationRevision(t *testing.T, s service.Store) {
	start := authentications(t, s).Revision().Number
	putAuthentication(t, s, newAuthentication("1"))
	first := authentications(t, s).Revision()
	if first.Number != start+1 || first.Stamp == 0 {
		t.Errorf("got revision %v after %d", first, start)
	}
	putAuthentication(t, s, newAuthentication("1")) // unchanged
	updateAuthentications(t, s, deleteTokens("nope"))
	wantEqual(t, "revision: nothing was stored", first, authentications(t, s).Revision())
	// The condition is about a namespace and not used.
	wrong := int64(99)
	err := s.UpdateAuthentications(t.Context(), service.Write{IfMatch: &wrong}, deleteTokens("1"))
	if err != nil {
		t.Errorf("got %v, want the condition ignored", err)
	}
	wantEqual(t, "revision of the namespace", 1, snapshot(t, s, defaultNamespace).Revision().Number)
}

func testAuthenticationRecords(t *testing.T, s service.Store) {
	putAuthentication(t, s, newAuthentication("1"), newAuthentication("2"))
	updateAuthentications(t, s, inOneUpdate(deleteTokens("1"), putTokens(rotated("2", "a new hash"))))
	got := allChanges(t, s, change.Query{Kind: change.KindAuthentication})
	want := []string{
		"1.0 create authentication 1", "1.1 create authentication 2",
		"2.0 delete authentication 1", "2.1 update authentication 2",
	}
	wantEqual(t, "records", want, brief(got))
	for _, c := range got {
		text, err := json.Marshal(c)
		if err != nil || strings.Contains(string(text), "hash") {
			t.Errorf("record %s (%v) shows the token hash", text, err)
		}
		if c.Namespace != "" {
			t.Errorf("the record has namespace %q", c.Namespace)
		}
	}
}

// If many processes bootstrap concurrently, only one token is created.
func testAuthenticationRaces(t *testing.T, s service.Store) {
	race(t, errTaken, func(ctx context.Context, i int) error {
		return s.UpdateAuthentications(ctx, service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			if !tx.First() {
				return errTaken
			}
			return tx.PutAuthentication(ctx, newAuthentication(fmt.Sprint(i)))
		})
	})
	race(t, guidon.InvalidArgument, func(ctx context.Context, i int) error {
		return s.UpdateAuthentications(ctx, service.Write{}, putTokens(rotated(fmt.Sprint("same hash ", i), "wanted")))
	})
	wantEqual(t, "authentications", 2, len(authentications(t, s).All()))
}

func testAuthenticationExpired(t *testing.T, s service.Store) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expiries := map[string]time.Time{"never": {}, "now": now, "third": now.Add(-time.Second), "first": now.Add(-time.Hour),
		"second": now.Add(-time.Minute)}
	for id, at := range expiries {
		a := newAuthentication(id)
		a.ExpiresAt = at
		putAuthentication(t, s, a)
	}
	other := newAuthentication("other method")
	other.Method, other.ExpiresAt = service.MethodOIDC, now.Add(-time.Hour)
	putAuthentication(t, s, other)
	updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
		for limit, want := range map[int][]string{10: {"first", "second", "third"}, 2: {"first", "second"}} {
			got, err := tx.Expired(ctx, service.MethodToken, now, limit)
			if err != nil || !cmp.Equal(ids(got), want) {
				t.Errorf("limit %d: got %q, %v, want %q", limit, ids(got), err, want)
			}
		}
		if err := tx.DeleteAuthentication(ctx, "first"); err != nil {
			return err
		}
		got, err := tx.Expired(ctx, service.MethodToken, now, 10)
		if want := []string{"second", "third"}; err != nil || !cmp.Equal(ids(got), want) {
			t.Errorf("after a deletion: got %q, %v, want %q", ids(got), err, want)
		}
		return nil
	})
}
