package bearer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// remembers checks whether the token is remembered.
func (f *fixture) remembers(t testing.TB, token string, want bool) {
	t.Helper()
	identity, ok := f.Remembered(t.Context(), token)
	if ok != want || ok != (identity != nil) {
		t.Errorf("remembered: %v with %v, want %v", ok, identity, want)
	}
}

func TestRemembered(t *testing.T) {
	f := newFixture(t, nil)
	token := f.token(nil)
	f.remembers(t, token, false)
	if n := f.issuer.Requests(logintest.KeysPath); n != 0 {
		t.Errorf("%d requests for a token that was never accepted", n)
	}
	identity := f.accept(t, token)
	f.remembers(t, token, true)
	if got := f.accept(t, token); got != identity {
		t.Error("a remembered token is verified again")
	}
	for name, other := range map[string]string{
		"another": f.token(map[string]any{"jti": "2"}), "longer": token + "A", "shorter": token[:len(token)-1],
		"with a dot": token + ".", "nothing": "", "huge": token + strings.Repeat("A", 1<<20),
	} {
		if _, ok := f.Remembered(t.Context(), other); ok {
			t.Errorf("%s: remembered", name)
		}
	}
	f.clock.Advance(time.Hour + time.Minute - 1)
	f.remembers(t, token, true)
	f.clock.Advance(1)
	f.remembers(t, token, false)
	f.refuse(t, "expired", token)
}

// TestRotation: a change of the keys makes all entries invalid, also that of a token whose
// key is still published.
func TestRotation(t *testing.T) {
	f := newFixture(t, nil)
	other := logintest.New("Ed25519 2", "other")
	f.issuer.PublishKeys(f.key, other)
	lasting := map[string]any{"exp": f.at(48 * time.Hour)}
	kept, withdrawn := f.token(lasting), other.Token("EdDSA", f.claims(lasting))
	f.accept(t, kept)
	f.accept(t, withdrawn)

	f.issuer.PublishKeys(f.key)
	f.clock.Advance(provider.Lifetime - 1)
	f.remembers(t, kept, true)
	f.remembers(t, withdrawn, true) // the old keys are still used
	f.clock.Advance(1)
	f.remembers(t, withdrawn, false)
	f.remembers(t, kept, false)
	f.refuse(t, "key withdrawn", withdrawn)
	f.accept(t, kept)
	f.remembers(t, kept, true)
	if entries, _ := f.Remembers(); entries != 1 {
		t.Errorf("%d entries, want those of the old keys removed", entries)
	}

	f.clock.Advance(provider.Lifetime) // the same keys again
	f.remembers(t, kept, true)
}

// TestOutage: entries stay valid as long as the keys may be used.
func TestOutage(t *testing.T) {
	f := newFixture(t, nil)
	token := f.token(map[string]any{"exp": f.at(48 * time.Hour)})
	f.accept(t, token)
	f.issuer.Serve(logintest.KeysPath, http.NotFoundHandler())
	f.clock.Advance(provider.MaxAge - time.Second)
	f.remembers(t, token, true)
	f.clock.Advance(time.Second)
	f.remembers(t, token, false)
	if _, err := f.Verify(t.Context(), token); guidon.CodeOf(err) != guidon.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
}

// TestRotationDuringVerification: a token that was verified with keys which were fetched for
// it is remembered under these, and no token under the old ones.
func TestRotationDuringVerification(t *testing.T) {
	f := newFixture(t, nil)
	old := f.token(nil)
	f.accept(t, old)
	f.clock.Advance(provider.ForcedPause)
	other := logintest.New("Ed25519 2", "other")
	f.issuer.PublishKeys(other)
	token := other.Token("EdDSA", f.claims(nil))
	f.accept(t, token) // fetches the keys in the middle
	f.remembers(t, token, true)
	f.remembers(t, old, false)
	f.refuse(t, "old key", old)
}

// TestLateEntry: a token whose verification took longer than a change of the keys is not
// remembered, since nobody knows whether the new ones accept it.
func TestLateEntry(t *testing.T) {
	f := newFixture(t, nil)
	token, late := f.token(nil), f.token(map[string]any{"jti": "late"})
	identity := f.accept(t, token)
	f.issuer.PublishKeys(f.key, logintest.New("Ed25519 2", "other"))
	f.clock.Advance(provider.Lifetime)
	f.accept(t, token) // as of now, the second generation
	f.Remember(late, 1, identity)
	f.remembers(t, late, false)
	f.remembers(t, token, true)
	f.Remember(late, 2, identity)
	f.remembers(t, late, true)
}

// TestEviction: the memory is bounded. What has expired goes first.
func TestEviction(t *testing.T) {
	f := newFixture(t, nil)
	f.SetMemory(10, 1<<20)
	numbered := func(i int, lifetime time.Duration) string {
		return f.token(map[string]any{"jti": fmt.Sprint(i), "exp": f.at(lifetime)})
	}
	lasting := []string{numbered(-1, 5*time.Hour), numbered(-2, 5*time.Hour), numbered(-3, 5*time.Hour)}
	for _, token := range lasting {
		f.accept(t, token)
	}
	for range 7 {
		f.accept(t, numbered(1, time.Hour))
		f.clock.Advance(time.Second)
	}
	f.clock.Advance(2 * time.Hour)
	f.accept(t, numbered(2, time.Hour))
	for _, token := range lasting {
		f.remembers(t, token, true)
	}
	if entries, _ := f.Remembers(); entries != 4 {
		t.Errorf("%d entries, want those that have not expired", entries)
	}
	for i := range 100 {
		token := numbered(10+i, time.Hour)
		f.accept(t, token)
		f.remembers(t, token, true)
		if entries, _ := f.Remembers(); entries > 10 || i > 10 && entries < 9 {
			t.Fatalf("%d entries, want 9 or 10", entries)
		}
	}
	if bearer.MaxEntries != 10_000 {
		t.Errorf("%d entries are allowed", bearer.MaxEntries)
	}
}

// TestSize: a few large tokens take as much as many small ones.
func TestSize(t *testing.T) {
	f := newFixture(t, nil)
	const limit = 50_000
	f.SetMemory(1000, limit)
	for i := range 50 {
		token := f.token(map[string]any{"jti": fmt.Sprint(i), "io.service.auth.x": strings.Repeat("x", 5000)})
		f.accept(t, token)
		f.remembers(t, token, true)
		if entries, size := f.Remembers(); size > limit || size < entries*5000 {
			t.Fatalf("%d entries of %d bytes", entries, size)
		}
	}
}

// TestConcurrent is for the race detector: verifications, hits, rotations and evictions.
func TestConcurrent(t *testing.T) {
	f := newFixture(t, nil)
	f.SetMemory(8, 1<<20)
	other := logintest.New("Ed25519 2", "other")
	f.issuer.PublishKeys(f.key, other)
	tokens := make([]string, 16)
	for i := range tokens {
		tokens[i] = f.token(map[string]any{"jti": fmt.Sprint(i), "exp": f.at(100 * time.Hour)})
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 50 {
				token := tokens[(worker*7+i)%len(tokens)]
				if _, err := f.Verify(context.WithoutCancel(t.Context()), token); err != nil {
					t.Errorf("rejected: %v", err)
				}
				if identity, ok := f.Remembered(t.Context(), token); ok && identity.Subject != "jwt:sub:ada" {
					t.Errorf("remembered %q", identity.Subject)
				}
				if worker == 0 && i%10 == 0 {
					f.issuer.PublishKeys(f.key, logintest.New("Ed25519 2", fmt.Sprint(i)))
					f.clock.Advance(provider.Lifetime)
				}
			}
		})
	}
	all.Wait()
}

// TestCanceled: a caller that leaves gets the error of its context.
func TestCanceled(t *testing.T) {
	f := newFixture(t, nil)
	begun := make(chan struct{}, 1)
	f.issuer.Serve(logintest.KeysPath, logintest.Hang(begun))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := f.Verify(ctx, f.token(nil)); guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
}

// TestRememberedAllocations: a hit does not allocate.
func TestRememberedAllocations(t *testing.T) {
	f := newFixture(t, nil)
	for name, token := range map[string]string{"usual": f.token(nil), "long": f.token(map[string]any{"pad": strings.Repeat("x", 11_000)})} {
		f.accept(t, token)
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { _, _ = f.Remembered(ctx, token) }); n > 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

func BenchmarkRemembered(b *testing.B) {
	f := newFixture(b, nil)
	token := f.token(map[string]any{"groups": []string{"payments", "ops"}, "pad": strings.Repeat("x", 400)})
	f.accept(b, token)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := f.Remembered(ctx, token); !ok {
			b.Fatal("not remembered")
		}
	}
}
