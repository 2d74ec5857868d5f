package cache_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// woken reports whether the channel is closed.
func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

// TestSubscribe: a subscriber of a namespace is notified of every write to it and to
// the tokens, and then finds it. It is not notified of anything else.
func TestSubscribe(t *testing.T) {
	c := cache.New(openSQLite(t))
	changed, cancel := c.Subscribe("default")
	newcomers, cancelNewcomers := c.Subscribe("new")
	defer cancelNewcomers()

	before, other := changed(), newcomers()
	want := put(t, c, "a")
	if !woken(before) || woken(other) || woken(changed()) {
		t.Errorf("after a write: woken %t, another namespace %t, the next channel %t", woken(before), woken(other), woken(changed()))
	}
	if got := get(t, c, "default").Revision().Number; got != want {
		t.Errorf("revision %d, want %d", got, want)
	}

	before = changed()
	_, err := c.Update(t.Context(), "new", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: "new"})
	})
	if err != nil || woken(before) || !woken(other) {
		t.Errorf("after a namespace was created: %v, woken %t, the new one %t", err, woken(before), woken(other))
	}
	get(t, c, "new")

	before, other = changed(), newcomers()
	err = c.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.PutAuthentication(ctx, &service.Authentication{ID: "a", TokenHash: "a"})
	})
	if err != nil || !woken(before) || !woken(other) {
		t.Errorf("after a token was created: %v, woken %t, %t", err, woken(before), woken(other))
	}

	before = changed()
	cancel()
	put(t, c, "b")
	if woken(before) {
		t.Error("woken after cancel")
	}
}

// TestSubscribeShared: subscribers are notified of the writes of others when Refresh
// has loaded them, and of writes through the cache immediately.
func TestSubscribeShared(t *testing.T) {
	ctx := t.Context()
	f := newFake()
	f.set(service.AuthenticationsKey, 1, 1)
	s := cache.NewShared(f, cache.Freshness{})
	refresh := func() {
		t.Helper()
		if err := s.Refresh(ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	refresh()
	if f.queries() != 0 {
		t.Fatal("Refresh queried without a subscriber")
	}
	changed, cancel := s.Subscribe("a")
	before := changed()
	refresh()
	if diff := cmp.Diff([][]string{{"a"}}, f.queried); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	if !woken(before) {
		t.Error("not woken by the first state")
	}

	for _, test := range []struct {
		name  string
		write func()
		want  bool
	}{
		{"nothing", func() {}, false},
		{"another namespace", func() { f.set("b", 1, 1) }, false},
		{"a change", func() { f.set("a", 2, 2) }, true},
		{"a backup of the same number", func() { f.set("a", 2, 3) }, true},
		{"a backup", func() { f.set("a", 1, 1) }, true},
		{"a deletion", func() { f.drop("a") }, true},
		{"nothing, while it does not exist", func() {}, false},
		{"a creation", func() { f.set("a", 5, 5) }, true},
		{"tokens, which were never requested", func() { f.set(service.AuthenticationsKey, 2, 2) }, false},
	} {
		before = changed()
		test.write()
		if woken(before) {
			t.Errorf("%s: woken before it can be known", test.name)
		}
		refresh()
		if got := woken(before); got != test.want {
			t.Errorf("%s: woken %t, want %t", test.name, got, test.want)
		}
		loads := len(f.loads)
		got := read(ctx, s, "a")
		if head, exists := f.read([]string{"a"})["a"]; got.revision != head || (got.err == nil) != exists || len(f.loads) != loads {
			t.Errorf("%s: got %v after %d loads, want %v", test.name, got, len(f.loads)-loads, head)
		}
	}

	before = changed()
	if err := write(ctx, s, "a"); err != nil || !woken(before) {
		t.Errorf("not woken by a write through the cache: %v", err)
	}
	before = changed()
	if err := write(ctx, s, service.AuthenticationsKey); err != nil || !woken(before) {
		t.Errorf("not woken by a write to the tokens through the cache: %v", err)
	}

	refresh()
	cancel()
	queries := f.queries()
	if refresh(); f.queries() != queries {
		t.Error("Refresh queries after cancel")
	}
}

// TestSubscribeTokens: subscribers are notified of a change of the tokens, however long
// ago theirs was checked.
func TestSubscribeTokens(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		f.set(service.AuthenticationsKey, 1, 1)
		s := cache.NewShared(f, cache.Freshness{})
		read(t.Context(), s, service.AuthenticationsKey)
		changed, cancel := s.Subscribe("a")
		defer cancel()
		time.Sleep(time.Hour)
		before := changed()
		f.set(service.AuthenticationsKey, 3, 3)
		if err := s.Refresh(t.Context(), 0); err != nil || !woken(before) {
			t.Errorf("not woken: %v", err)
		}
		loads := len(f.loads)
		wantNumber(t, "tokens", read(t.Context(), s, service.AuthenticationsKey), 3)
		if len(f.loads) != loads {
			t.Error("woken before they were loaded")
		}
	})
}

// TestSubscribeConcurrently adds and cancels subscriptions while there are writes. A
// reader that reads after each notification, and before it waits, finds the last write
// in the end (with the race detector on).
func TestSubscribeConcurrently(t *testing.T) {
	const writes = 200
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for last := int64(0); last <= writes; {
				changed, cancel := s.Subscribe("a")
				wait := changed()
				got := read(t.Context(), s, "a")
				if got.err != nil || got.revision.Number < last {
					t.Errorf("revision %v after %d", got, last)
					cancel()
					return
				}
				if last = got.revision.Number; last <= writes {
					<-wait
				}
				cancel()
			}
		})
	}
	for range writes {
		if err := write(t.Context(), s, "a"); err != nil {
			t.Fatal(err)
		}
	}
	readers.Wait()
}
