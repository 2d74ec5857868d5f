package rediscache_test

import (
	"context"
	"testing"
	"time"
)

// The other instances are notified of a write. A subscription ends with its context, or
// with an error when Redis stops.
func TestSubscribe(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	keys, ended := make(chan string, 10), make(chan error)
	subscribe := func(ctx context.Context) {
		go func() { ended <- a.Subscribe(ctx, func(key string) { keys <- key }) }()
		if key := <-keys; key != "" {
			t.Errorf("notified of %q before anything was written", key)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	subscribe(ctx)
	begun := time.Now()
	b.write(t, "a")
	if key := <-keys; key != "a" {
		t.Errorf("notified of %q, want a", key)
	}
	t.Logf("notified after %v", time.Since(begun))
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("a canceled subscription: %v", err)
	}
	subscribe(t.Context())
	server.Kill()
	if err := <-ended; err == nil {
		t.Error("a broken subscription returned no error")
	}
}

// A silent Redis is pinged, and given up if it does not respond.
func TestSubscriptionToFrozenServer(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until Redis is given up")
	}
	server := startRedis(t)
	a := newInstance(t, server.URL, newDatabase())
	ready := make(chan string, 10)
	ended := make(chan error)
	go func() { ended <- a.Subscribe(t.Context(), func(key string) { ready <- key }) }()
	<-ready
	server.Freeze()
	if err := <-ended; err == nil {
		t.Error("a broken subscription returned no error")
	}
}
