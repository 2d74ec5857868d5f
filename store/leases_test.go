package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// The steps are taken in order, with one lease.
func TestLeases(t *testing.T) {
	db := storetest.NewSQLite(t)
	acquire := func(holder string, ttl time.Duration) func() (bool, error) {
		return func() (bool, error) { return db.AcquireLease(t.Context(), "cleanup", holder, ttl) }
	}
	renew := func(holder string) func() (bool, error) {
		return func() (bool, error) { return db.RenewLease(t.Context(), "cleanup", holder, time.Hour) }
	}
	release := func(holder string) func() (bool, error) {
		return func() (bool, error) { return true, db.ReleaseLease(t.Context(), "cleanup", holder) }
	}
	for _, c := range []struct {
		name string
		do   func() (bool, error)
		want bool
	}{
		{"renew a lease that does not exist", renew("a"), false},
		{"acquire a free lease", acquire("a", time.Hour), true},
		{"acquire a lease of another holder", acquire("b", time.Hour), false},
		{"acquire it again", acquire("a", time.Hour), true},
		{"renew it", renew("a"), true},
		{"renew a lease of another holder", renew("b"), false},
		{"release a lease of another holder, without effect", release("b"), true},
		{"acquire it while it is still held", acquire("b", time.Hour), false},
		{"release it", release("a"), true},
		{"renew it after the release", renew("a"), false},
		{"acquire it with a ttl of zero", acquire("b", 0), true},
		{"acquire an expired lease", acquire("a", time.Hour), true},
		{"renew it after another holder acquired it", renew("b"), false},
	} {
		got, err := c.do()
		if err != nil || got != c.want {
			t.Fatalf("%s: got %t, %v, want %t", c.name, got, err, c.want)
		}
	}
	if got, err := db.AcquireLease(t.Context(), "another", "b", time.Hour); err != nil || !got {
		t.Errorf("a lease of another name: got %t, %v", got, err)
	}
}

func TestLeaseRace(t *testing.T) {
	db := storetest.NewSQLite(t)
	var wg sync.WaitGroup
	var won atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			got, err := db.AcquireLease(t.Context(), "cleanup", fmt.Sprint(i), time.Hour)
			if err != nil {
				t.Error(err)
			}
			if got {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d holders have the lease, want 1", won.Load())
	}
}

func TestWaitReady(t *testing.T) {
	db := storetest.NewSQLite(t)
	if err := db.WaitReady(t.Context(), time.Now().Add(time.Minute), nil); err != nil {
		t.Fatal(err)
	}
	// Nothing listens on port 1.
	away, err := store.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/flags?sslmode=disable", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	failures := 0
	err = away.WaitReady(t.Context(), time.Now().Add(500*time.Millisecond), func(err error, next time.Duration) {
		failures++
		wantUnavailable(t, "attempt", err)
		if next <= 0 {
			t.Errorf("the next attempt is in %v", next)
		}
	})
	wantUnavailable(t, "in the end", err)
	if failures == 0 {
		t.Error("no attempt was reported")
	}
}
