package issuer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

func checkRequests(t testing.TB, p *logintest.Provider, want int) {
	t.Helper()
	if got := p.Requests(logintest.KeysPath); got != want {
		t.Errorf("the keys were fetched %d times, want %d", got, want)
	}
}

// TestRotation: a new key is found by its id, and a removed one is rejected after an hour
// at the latest.
func TestRotation(t *testing.T) {
	old, next := logintest.New("RSA", "old"), logintest.New("P-256", "new")
	p, clock := logintest.NewProvider(t, old), logintest.NewClock()
	s := newSet(t, p, clock)
	checkRequests(t, p, 0)
	checkAccepted(t, s, old.Token("RS256", claims()))
	first, err := s.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	p.PublishKeys(old, next)
	checkRejected(t, s, next.Token("ES256", claims()), guidon.Unauthenticated)
	clock.Advance(provider.ForcedPause)
	checkAccepted(t, s, next.Token("ES256", claims()))
	checkRequests(t, p, 2)
	second, err := s.Generation(t.Context())
	if err != nil || second <= first {
		t.Errorf("generation %d after %d, error %v; want a later one", second, first, err)
	}

	p.PublishKeys(next)
	clock.Advance(provider.Lifetime - time.Second)
	checkAccepted(t, s, old.Token("RS256", claims()))
	if same, err := s.Generation(t.Context()); err != nil || same != second {
		t.Errorf("generation %d, error %v; want %d", same, err, second)
	}
	clock.Advance(time.Second)
	if third, err := s.Generation(t.Context()); err != nil || third <= second {
		t.Errorf("generation %d after %d, error %v; want a later one", third, second, err)
	}
	checkRejected(t, s, old.Token("RS256", claims()), guidon.Unauthenticated)
	checkRequests(t, p, 3)
}

// TestGeneration: it stays the same as long as the keys do, however often they are
// fetched.
func TestGeneration(t *testing.T) {
	a, b := logintest.New("RSA", "a"), logintest.New("Ed25519", "b")
	p, clock := logintest.NewProvider(t, a), logintest.NewClock()
	s := newSet(t, p, clock)
	var last uint64
	for _, test := range []struct {
		name    string
		keys    []*logintest.Key
		changed bool
	}{
		{"first", []*logintest.Key{a}, true},
		{"the same", []*logintest.Key{a}, false},
		{"one more", []*logintest.Key{a, b}, true},
		{"the same two", []*logintest.Key{a, b}, false},
		{"one that is skipped", []*logintest.Key{a, b, logintest.New("P-256", "c").With("use", "enc")}, false},
		{"another id", []*logintest.Key{a, logintest.New("Ed25519", "c")}, true},
		{"another key of the same id", []*logintest.Key{a, logintest.New("Ed25519 2", "c")}, true},
		{"for one algorithm only", []*logintest.Key{a.With("alg", "RS256"), logintest.New("Ed25519 2", "c")}, true},
		{"none", nil, true},
	} {
		p.PublishKeys(test.keys...)
		got, err := s.Generation(t.Context())
		if err != nil || (got > last) != test.changed || got < last {
			t.Errorf("%s: generation %d after %d, error %v; want a change: %v", test.name, got, last, err, test.changed)
		}
		last = got
		clock.Advance(provider.Lifetime)
	}
}

// TestUnknownKeyStorm: however many tokens have unknown ids, or none that fits, the keys
// are fetched at most every ten seconds.
func TestUnknownKeyStorm(t *testing.T) {
	known := logintest.New("P-256", "known")
	p, clock := logintest.NewProvider(t, known), logintest.NewClock()
	s := newSet(t, p, clock)
	stranger := logintest.New("P-256 2", "")
	storm := func() {
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				k := *stranger
				if i%2 == 0 {
					k.ID = fmt.Sprint("unknown ", i)
				}
				checkRejected(t, s, k.Token("ES256", claims()), guidon.Unauthenticated)
				checkAccepted(t, s, known.Token("ES256", claims()))
			})
		}
		all.Wait()
	}
	for i := range 3 {
		storm()
		checkRequests(t, p, i+1)
		clock.Advance(provider.ForcedPause - time.Millisecond)
		storm()
		checkRequests(t, p, i+1)
		clock.Advance(time.Millisecond)
	}
}

// TestNoFetchForBadSignature: a token that names a known key, and is not signed with it,
// causes no fetch.
func TestNoFetchForBadSignature(t *testing.T) {
	known := logintest.New("P-256", "known")
	p, clock := logintest.NewProvider(t, known), logintest.NewClock()
	s := newSet(t, p, clock)
	checkAccepted(t, s, known.Token("ES256", claims()))
	clock.Advance(provider.ForcedPause)
	checkRejected(t, s, logintest.New("P-256 2", "known").Token("ES256", claims()), guidon.Unauthenticated)
	checkRequests(t, p, 1)
}

// TestTokensWithoutID: such a token is verified with every key that fits, and new keys are
// fetched if none does.
func TestTokensWithoutID(t *testing.T) {
	a, b := logintest.New("RSA", "a"), logintest.New("RSA 2", "b")
	p, clock := logintest.NewProvider(t, a), logintest.NewClock()
	s := newSet(t, p, clock)
	anonymous := func(k *logintest.Key) string { return (&logintest.Key{Private: k.Private}).Token("PS384", claims()) }
	checkAccepted(t, s, anonymous(a))
	p.PublishKeys(a, b)
	checkRejected(t, s, anonymous(b), guidon.Unauthenticated)
	clock.Advance(provider.ForcedPause)
	checkAccepted(t, s, anonymous(b))
	checkAccepted(t, s, anonymous(a))
	checkRequests(t, p, 2)
}

// TestSameID: of several keys with one id, the one that the token is signed with counts.
func TestSameID(t *testing.T) {
	a, b, c := logintest.New("RSA", "x"), logintest.New("RSA 2", "x"), logintest.New("P-256", "x")
	s := newSet(t, logintest.NewProvider(t, a, b, c), logintest.NewClock())
	checkAccepted(t, s, a.Token("RS256", claims()))
	checkAccepted(t, s, b.Token("RS512", claims()))
	checkAccepted(t, s, c.Token("ES256", claims()))
}

func TestKeyFaults(t *testing.T) {
	k := logintest.New("P-256", "k")
	for _, fault := range logintest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p, clock := logintest.NewProvider(t), logintest.NewClock()
			s := newSet(t, p, clock)
			token := k.Token("ES256", claims())
			p.Serve(logintest.KeysPath, fault.Handler)
			checkRejected(t, s, token, guidon.Unavailable)
			checkRejected(t, s, token, guidon.Unavailable)
			checkRequests(t, p, 1)
			if _, err := s.Generation(t.Context()); guidon.CodeOf(err) != guidon.Unavailable {
				t.Errorf("generation: got %v, want Unavailable", err)
			}

			clock.Advance(provider.RetryPause)
			p.PublishKeys(k)
			checkAccepted(t, s, token)

			p.Serve(logintest.KeysPath, fault.Handler)
			clock.Advance(provider.MaxAge - time.Second)
			checkAccepted(t, s, token)
			checkRejected(t, s, logintest.New("P-256 2", "other").Token("ES256", claims()), guidon.Unavailable)
			clock.Advance(time.Second)
			checkRejected(t, s, token, guidon.Unavailable)
		})
	}
}

// TestErrors: clients see neither what the provider nor what the token says.
func TestErrors(t *testing.T) {
	p := logintest.NewProvider(t, logintest.New("P-256", "known").With("use", "enc"))
	s := newSet(t, p, logintest.NewClock())
	_, _, err := s.Verify(t.Context(), logintest.New("P-256", "hush\x00").Token("ES256", claims()), issuer.MaxToken)
	if got := guidon.PublicMessage(err); got != "request was not authenticated" {
		t.Errorf("clients see %q", got)
	}
	for _, want := range []string{`no key for algorithm ES256 with the id "hush" among 0`, `1 skipped (key 0: use is "enc")`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// TestURL: the address is that of the discovery document, whose errors keep their codes.
func TestURL(t *testing.T) {
	k := logintest.New("P-256", "k")
	p, clock := logintest.NewProvider(t, k), logintest.NewClock()
	s := newSource(t, p, clock, nil)
	document := p.Serve(logintest.DiscoveryPath, http.NotFoundHandler())
	_, _, err := s.Verify(t.Context(), k.Token("ES256", claims()), issuer.MaxToken)
	if guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), "discovery document") {
		t.Errorf("got %v, want Unavailable and its cause", err)
	}
	clock.Advance(provider.RetryPause)
	p.Serve(logintest.DiscoveryPath, document)
	checkAccepted(t, s, k.Token("ES256", claims()))
}

// TestContext: a caller waits for keys in its own time.
func TestContext(t *testing.T) {
	p := logintest.NewProvider(t)
	begun := make(chan struct{}, 10)
	p.Serve(logintest.KeysPath, logintest.Hang(begun))
	s := newSet(t, p, logintest.NewClock())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, _, err := s.Verify(ctx, logintest.New("P-256", "k").Token("ES256", claims()), issuer.MaxToken)
	if guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
}

// TestOneFetch: tokens at the same time share a fetch.
func TestOneFetch(t *testing.T) {
	k := logintest.New("P-256", "k")
	p := logintest.NewProvider(t)
	release := make(chan struct{})
	published := logintest.NewProvider(t, k)
	p.Serve(logintest.KeysPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		published.ServeHTTP(w, r)
	}))
	s := newSet(t, p, logintest.NewClock())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { checkAccepted(t, s, k.Token("ES256", claims())) })
	}
	close(release)
	all.Wait()
	checkRequests(t, p, 1)
}
