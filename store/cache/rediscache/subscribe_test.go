package rediscache_test

import (
	"context"
	"testing"
	"time"
)

// A write on one instance is told to the others, and a subscription ends with its
// context, or with an error when Redis does.
func TestSubscribe(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a, b := newInstance(t, server.URL, db), newInstance(t, server.URL, db)
	keys, ended := make(chan string, 10), make(chan error)
	subscribe := func(ctx context.Context) {
		go func() { ended <- a.Subscribe(ctx, func(key string) { keys <- key }) }()
		if key := <-keys; key != "" {
			t.Errorf("told of %q before anything was written", key)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	subscribe(ctx)
	begun := time.Now()
	b.write(t, "a")
	if key := <-keys; key != "a" {
		t.Errorf("told of %q, want a", key)
	}
	t.Logf("told after %v", time.Since(begun))
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("a subscription that was ended: %v", err)
	}
	subscribe(t.Context())
	server.Kill()
	if err := <-ended; err == nil {
		t.Error("a subscription that broke is said to have been ended")
	}
}

// A Redis that says nothing is asked, and given up when it does not answer.
func TestSubscriptionToFrozenServer(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for Redis to be given up")
	}
	server := startRedis(t)
	a := newInstance(t, server.URL, newDatabase())
	ready := make(chan string, 10)
	ended := make(chan error)
	go func() { ended <- a.Subscribe(t.Context(), func(key string) { ready <- key }) }()
	<-ready
	server.Freeze()
	if err := <-ended; err == nil {
		t.Error("a subscription that broke is said to have been ended")
	}
}
