package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// digestOf returns a digest such as callers use.
func digestOf(text string) string {
	digest := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

func wantSpent(t testing.TB, what string, s service.SecretStore, digest string, want bool) {
	t.Helper()
	if got, err := s.Spent(t.Context(), digest); err != nil || got != want {
		t.Errorf("%s: spent is %t, %v, want %t", what, got, err, want)
	}
}

func testSpend(t *testing.T, both [2]*store.DB) {
	until := time.Now().Add(time.Hour)
	wantSpent(t, "before", both[0], digestOf("a"), false)
	mustSucceed(t, both[0].Spend(t.Context(), digestOf("a"), until))
	for i, s := range both {
		wantSpent(t, fmt.Sprint("instance ", i), s, digestOf("a"), true)
		wantSpent(t, fmt.Sprint("instance ", i), s, digestOf("b"), false)
		wantCode(t, fmt.Sprint("instance ", i), s.Spend(t.Context(), digestOf("a"), until.Add(time.Hour)), guidon.InvalidArgument)
	}
	// Digests are case-sensitive, and there is no revision for them.
	mustSucceed(t, both[0].Spend(t.Context(), "Case", until))
	mustSucceed(t, both[1].Spend(t.Context(), "case", until))
	wantEqual(t, "revision of the authentications", 0, authentications(t, both[1]).Revision().Number)
}

// What a transaction uses is used only if it commits and stores something else.
func testSpendInTransaction(t *testing.T, both [2]*store.DB) {
	until := time.Now().Add(time.Hour)
	spend := func(digest string, then func(ctx context.Context, tx service.AuthenticationTx) error) error {
		return both[0].UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			if err := tx.Spend(ctx, digest, until); err != nil {
				return err
			}
			return then(ctx, tx)
		})
	}
	put := putTokens(newAuthentication("1"))
	err := spend(digestOf("a"), func(ctx context.Context, tx service.AuthenticationTx) error {
		return errors.Join(put(ctx, tx), errStop)
	})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v, want the function's error", err)
	}
	wantSpent(t, "after a rollback", both[1], digestOf("a"), false)
	mustSucceed(t, spend(digestOf("a"), func(context.Context, service.AuthenticationTx) error { return nil }))
	wantSpent(t, "nothing else stored", both[1], digestOf("a"), false)
	mustSucceed(t, spend(digestOf("a"), put))
	wantSpent(t, "after a commit", both[1], digestOf("a"), true)
	before := authentications(t, both[1]).Revision()
	wantCode(t, "again", spend(digestOf("a"), deleteTokens("1")), guidon.InvalidArgument)
	if after := authentications(t, both[1]); after.Revision() != before || after.ByID("1") == nil {
		t.Errorf("a refused transaction has changed something: revision %v, want %v", after.Revision(), before)
	}
}

// Of many attempts on two instances, one succeeds, in a transaction or on its own.
func testSpendOnce(t *testing.T, both [2]*store.DB) {
	until := time.Now().Add(time.Hour)
	for round := range 5 {
		alone, inside := digestOf(fmt.Sprint("alone ", round)), digestOf(fmt.Sprint("inside ", round))
		race(t, guidon.InvalidArgument, func(ctx context.Context, i int) error { return both[i%2].Spend(ctx, alone, until) })
		race(t, guidon.InvalidArgument, func(ctx context.Context, i int) error {
			return both[i%2].UpdateAuthentications(ctx, service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
				if err := tx.Spend(ctx, inside, until); err != nil {
					return err
				}
				return tx.PutAuthentication(ctx, newAuthentication(fmt.Sprint(round, "-", i)))
			})
		})
		wantEqual(t, fmt.Sprintf("round %d: authentications", round), round+1, len(authentications(t, both[0]).All()))
	}
}

func testDeleteSpent(t *testing.T, both [2]*store.DB) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, until := range map[string]time.Time{
		"long ago": now.Add(-time.Hour), "just now": now.Add(-time.Microsecond), "now": now,
		"less than a microsecond ago": now.Add(-time.Nanosecond), "later": now.Add(time.Hour),
	} {
		mustSucceed(t, both[0].Spend(t.Context(), digestOf(name), until))
	}
	for _, want := range []int{2, 0} {
		if n, err := both[1].DeleteSpent(t.Context(), now); err != nil || n != want {
			t.Errorf("deleted %d, %v, want %d", n, err, want)
		}
	}
	for name, want := range map[string]bool{"long ago": false, "just now": false, "now": true, "less than a microsecond ago": true, "later": true} {
		wantSpent(t, name, both[0], digestOf(name), want)
	}
	mustSucceed(t, both[0].Spend(t.Context(), digestOf("long ago"), now.Add(time.Hour)))
}

func newSecret(number int64, fill byte) service.Secret {
	secret := service.Secret{Number: number, CreatedAt: time.Date(2024, 5, 6, 7, 8, 9, 123000, time.UTC)}
	for i := range secret.Value {
		secret.Value[i] = fill + byte(i)
	}
	return secret
}

func wantSecrets(t testing.TB, what string, both [2]*store.DB, want ...service.Secret) {
	t.Helper()
	for i, s := range both {
		got, err := s.Secrets(t.Context())
		mustSucceed(t, err)
		wantEqual(t, fmt.Sprintf("%s: instance %d", what, i), want, got)
	}
}

func testSecrets(t *testing.T, both [2]*store.DB) {
	wantSecrets(t, "at the start", both)
	for _, number := range []int64{10, 2, 9} {
		if added, err := both[0].AddSecret(t.Context(), newSecret(number, byte(number))); !added || err != nil { // #nosec G115 -- at most 10
			t.Fatalf("%d: added is %t, %v", number, added, err)
		}
	}
	if added, err := both[1].AddSecret(t.Context(), newSecret(9, 0xff)); added || err != nil {
		t.Errorf("a number that is taken: added is %t, %v", added, err)
	}
	wantSecrets(t, "added", both, newSecret(2, 2), newSecret(9, 9), newSecret(10, 10))
	mustSucceed(t, both[1].DeleteSecrets(t.Context(), 9))
	mustSucceed(t, both[1].DeleteSecrets(t.Context(), 9))
	wantSecrets(t, "two deleted", both, newSecret(10, 10))
}

// Of many instances that make a secret with the same number, one succeeds.
func testAddSecretOnce(t *testing.T, both [2]*store.DB) {
	for number := int64(1); number <= 5; number++ {
		var mu sync.Mutex
		var won []service.Secret
		race(t, errTaken, func(ctx context.Context, i int) error {
			secret := newSecret(number, byte(10*i)) // #nosec G115 -- i is small
			added, err := both[i%2].AddSecret(ctx, secret)
			if err != nil || !added {
				return errors.Join(errTaken, err)
			}
			mu.Lock()
			defer mu.Unlock()
			won = append(won, secret)
			return nil
		})
		all, err := both[0].Secrets(t.Context())
		if err != nil || len(all) != int(number) || len(won) != 1 || all[number-1] != won[0] {
			t.Fatalf("number %d: got %d secrets, %v, want that of the winner last", number, len(all), err)
		}
	}
}

// Deleted authentications leave nothing in the index of subjects, and one that was deleted
// by a server of an earlier release, which does not know the index, can be created again.
func testIndexOfOwners(t *testing.T, both [2]*store.DB) {
	s, subject := both[0], "oidc:google:sub:1"
	putAuthentication(t, s, sessionOf(subject, "1"), sessionOf(subject, "2"), newAuthentication("token"))
	wantRows(t, s, "authentication_subjects", 2)
	execute(t, s.SQL(), "DELETE FROM authentications WHERE id = '1'")
	wantOfOwner(t, "deleted by an earlier release", s, subject, "2")
	putAuthentication(t, s, sessionOf("oidc:google:sub:2", "1"))
	wantOfOwner(t, "created again", s, "oidc:google:sub:2", "1")
	wantOfOwner(t, "created again", s, subject, "2")
	updateAuthentications(t, s, deleteTokens("1", "2", "token"))
	wantRows(t, s, "authentication_subjects", 0)
}
