package call

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
)

// TestCredentialKey: a credential is known by its record, whoever it belongs to, and by the
// subject only if there is no record.
func TestCredentialKey(t *testing.T) {
	for _, test := range []struct{ id, actor, want string }{
		{"7f3c", "token:7f3c", "7f3c"},
		{"7f3c", "oidc:google:sub:1", "7f3c"},
		{"", "jwt:sub:ci", "jwt:sub:ci"},
	} {
		c := Call{Caller: service.Caller{Actor: change.Actor{ID: test.actor}, Authentication: &service.Authentication{ID: test.id}}}
		if got := credentialKey(&c); got != test.want {
			t.Errorf("id %q, actor %q: got %q, want %q", test.id, test.actor, got, test.want)
		}
	}
}

// TestRequestLimiterMemory: requests with very many credentials neither fill the memory nor
// refill the bucket of another one.
func TestRequestLimiterMemory(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := NewRequestLimiter(1, func() time.Time { return now })
	within := func(key string, n int) (within int) {
		for range n {
			err := l.take(key)
			if err == nil {
				within++
			} else if !errors.Is(err, guidon.Limited) {
				t.Fatal(err)
			}
		}
		return within
	}
	if got := within("busy", 20); got != 10 {
		t.Errorf("%d requests are within the limit, want 10", got)
	}
	for i := range 3 * limit.MaxKeys {
		if got := within(fmt.Sprint(i), 2); got != 2 {
			t.Fatalf("credential %d: %d requests are within the limit, want 2", i, got)
		}
	}
	if got := within("busy", 20); got != 0 {
		t.Errorf("afterwards %d requests are within the limit, want 0", got)
	}
}

// TestRequestLimiterAllocations: a request of a known credential allocates nothing, within
// the limit and beyond it.
func TestRequestLimiterAllocations(t *testing.T) {
	for rate, want := range map[int]error{1_000_000: nil, 1: errTooManyRequests} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		i := Invoker{config: Config{Requests: NewRequestLimiter(rate, func() time.Time { return now })}}
		for n := range 1000 {
			_ = i.config.Requests.take(fmt.Sprint(n))
		}
		o, r := Operation{Area: AreaEvaluation}, Request{Sender: nobody{}}
		c := Call{Caller: service.Caller{Authentication: &service.Authentication{ID: "id"}}}
		for range 10 {
			_ = i.limitRequests(&o, &r, &c)
		}
		if got := testing.AllocsPerRun(100, func() {
			if err := i.limitRequests(&o, &r, &c); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}); got != 0 {
			t.Errorf("rate %d: %v allocations, want none", rate, got)
		}
	}
}

// nobody is a sender that must not be asked for its address.
type nobody struct{ Sender }

// TestRequestLimiterConcurrent: requests at the same time are counted once each.
func TestRequestLimiterConcurrent(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := NewRequestLimiter(3, func() time.Time { return now })
	var within atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 50 {
				if l.take(fmt.Sprint(i%2)) == nil {
					within.Add(1)
				}
			}
		})
	}
	group.Wait()
	if got := within.Load(); got != 60 {
		t.Errorf("%d requests are within the limit, want 60", got)
	}
}
