package provider_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/bubble"
)

var errDown = errors.New("down")

// origin is the source of a cached value. It counts fetches, each of which returns
// its number, takes a time, or fails.
type origin struct {
	mu       sync.Mutex
	took     time.Duration
	err      error
	fetches  int
	canceled int
}

func (o *origin) set(took time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.took, o.err = took, err
}

func (o *origin) fetch(ctx context.Context) (int, error) {
	o.mu.Lock()
	o.fetches++
	n, took, err := o.fetches, o.took, o.err
	o.mu.Unlock()
	select {
	case <-ctx.Done():
		o.mu.Lock()
		o.canceled++
		o.mu.Unlock()
		return 0, ctx.Err()
	case <-time.After(took):
	}
	return n, err
}

func (o *origin) cached() *provider.Cached[int] { return provider.NewCached(o.fetch, time.Now) }

// step is a call of Get or Newer at a time, and what it returns: a value, or the error
// of the origin.
type step struct {
	at    time.Duration
	newer bool
	down  bool // from this step on
	want  int  // 0 is an error
}

func TestCachedOverTime(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		steps []step
		want  int // fetches
	}{
		{"first use", []step{{want: 1}}, 1},
		{"cached for an hour", []step{{want: 1}, {at: time.Hour - ms, want: 1}, {at: time.Hour, want: 2}, {at: 2*time.Hour - ms, want: 2}}, 2},
		{"no value, paused for 5 s", []step{{down: true}, {at: 1 * time.Second, down: true}, {at: 5*time.Second - ms}, {at: 5 * time.Second, want: 2}}, 2},
		{"failing twice", []step{{down: true}, {at: 5 * time.Second, down: true}, {at: 10*time.Second - ms}, {at: 10 * time.Second, want: 3}}, 3},
		{"old value during an outage", []step{
			{want: 1}, {at: time.Hour, down: true, want: 1}, {at: time.Hour + 5*time.Second - ms, down: true, want: 1},
			{at: time.Hour + 5*time.Second, down: true, want: 1}, {at: 24*time.Hour - ms, down: true, want: 1},
		}, 4},
		{"too old a value", []step{{want: 1}, {at: 24 * time.Hour, down: true}, {at: 24*time.Hour + time.Second}, {at: 24*time.Hour + 5*time.Second, want: 3}}, 3},
		{"too old during the pause", []step{{want: 1}, {at: 24*time.Hour - ms, down: true, want: 1}, {at: 24 * time.Hour}}, 2},
		{"new value after an outage", []step{{want: 1}, {at: time.Hour, down: true, want: 1}, {at: time.Hour + 5*time.Second, want: 3}, {at: 2 * time.Hour, want: 3}}, 3},
		{"newer at most every 10 s", []step{
			{want: 1}, {newer: true, want: 1}, {at: 10*time.Second - ms, newer: true, want: 1},
			{at: 10 * time.Second, newer: true, want: 2}, {at: 20*time.Second - ms, newer: true, want: 2}, {at: 20 * time.Second, newer: true, want: 3},
		}, 3},
		{"newer fails", []step{
			{want: 1}, {at: 10 * time.Second, newer: true, down: true}, {at: 10 * time.Second, want: 1}, {at: 20*time.Second - ms, newer: true},
			{at: 20 * time.Second, newer: true, want: 3},
		}, 3},
		{"newer prolongs the life", []step{{want: 1}, {at: 30 * time.Minute, newer: true, want: 2}, {at: 90*time.Minute - ms, want: 2}, {at: 90 * time.Minute, want: 3}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				o := &origin{}
				c, start := o.cached(), time.Now()
				version := uint64(0)
				for i, s := range test.steps {
					time.Sleep(time.Until(start.Add(s.at)))
					o.set(0, nil)
					if s.down {
						o.set(0, errDown)
					}
					got, err := provider.Version[int]{}, error(nil)
					if s.newer {
						got, err = c.Newer(t.Context(), version)
					} else {
						got, err = c.Get(t.Context())
					}
					if got.Value != s.want || (s.want == 0) != errors.Is(err, errDown) {
						t.Fatalf("step %d: got %v and error %v, want %d", i, got, err, s.want)
					}
					if err == nil {
						version = got.Number
					}
				}
				if o.fetches != test.want {
					t.Errorf("%d fetches, want %d", o.fetches, test.want)
				}
			})
		})
	}
}

// result is the result of one of several callers, and its time.
type result struct {
	Value int
	Err   string
	After time.Duration
}

// caller calls Get and returns the result.
func caller(ctx context.Context, c *provider.Cached[int]) result {
	start := time.Now()
	v, err := c.Get(ctx)
	r := result{Value: v.Value, After: time.Since(start)}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// TestOneFetch: many callers share one fetch, and each waits within its own time.
func TestOneFetch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{took: 3 * time.Second}
		c := o.cached()
		results := make([]result, 100)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				ctx := t.Context()
				if i%2 == 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Second)
					defer cancel()
				}
				results[i] = caller(ctx, c)
			})
		}
		all.Wait()
		for i, got := range results {
			want := result{Value: 1, After: 3 * time.Second}
			if i%2 == 0 {
				want = result{Err: context.DeadlineExceeded.Error(), After: time.Second}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("caller %d (-want +got):\n%s", i, diff)
			}
		}
		if o.fetches != 1 || o.canceled != 0 {
			t.Errorf("%d fetches, %d of them canceled, want one", o.fetches, o.canceled)
		}
	})
}

// TestAbandoned: all callers leave in time. The fetch goes on, for the next one.
func TestAbandoned(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{took: 5 * time.Second}
		c := o.cached()
		var all sync.WaitGroup
		for _, limit := range []time.Duration{time.Second, 2 * time.Second} {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				want := result{Err: context.DeadlineExceeded.Error(), After: limit}
				if diff := cmp.Diff(want, caller(ctx, c)); diff != "" {
					t.Errorf("caller of %v (-want +got):\n%s", limit, diff)
				}
			})
		}
		all.Wait()
		if diff := cmp.Diff(result{Value: 1, After: 3 * time.Second}, caller(t.Context(), c)); diff != "" {
			t.Errorf("the next caller (-want +got):\n%s", diff)
		}
		if o.fetches != 1 || o.canceled != 0 {
			t.Errorf("%d fetches, %d canceled, want one", o.fetches, o.canceled)
		}
	})
}

// TestNewerShared: callers that want a newer version wait for the one fetch.
func TestNewerShared(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{took: time.Second}
		c := o.cached()
		first, err := c.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(provider.ForcedPause)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				if got, err := c.Newer(t.Context(), first.Number); err != nil || got.Value != 2 {
					t.Errorf("caller %d: got %v and %v, want the second fetch", i, got, err)
				}
			})
		}
		all.Wait()
		if o.fetches != 2 {
			t.Errorf("%d fetches, want 2", o.fetches)
		}
	})
}

// TestAgeSinceStart: a value is as old as the request for it, not the response.
func TestAgeSinceStart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{took: 3 * time.Second}
		c, start := o.cached(), time.Now()
		caller(t.Context(), c)
		for i, at := range []time.Duration{provider.Lifetime - time.Second, provider.Lifetime} {
			time.Sleep(time.Until(start.Add(at)))
			if got := caller(t.Context(), c); got.Value != i+1 {
				t.Errorf("after %v: got %v, want %d", at, got, i+1)
			}
		}
	})
}

// TestDisconnecting: a client that disconnects immediately does not keep others from
// a newer version.
func TestDisconnecting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{took: 500 * time.Millisecond}
		c := o.cached()
		first, err := c.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(provider.ForcedPause)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Newer(gone, first.Number); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want Canceled", err)
		}
		if got, err := c.Newer(t.Context(), first.Number); err != nil || got.Value != 2 {
			t.Errorf("got %v and %v, want the version of the fetch that the other client started", got, err)
		}
		if o.fetches != 2 {
			t.Errorf("%d fetches, want 2", o.fetches)
		}
	})
}

// TestOutageDelaysOne: while a provider hangs, only one caller at a time waits for it.
func TestOutageDelaysOne(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := &origin{}
		c := o.cached()
		caller(t.Context(), c)
		o.set(provider.Timeout, errDown)
		time.Sleep(provider.Lifetime)
		if diff := cmp.Diff(result{Value: 1, After: provider.Timeout}, caller(t.Context(), c)); diff != "" {
			t.Errorf("at the start of the outage (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(result{Value: 1}, caller(t.Context(), c)); diff != "" {
			t.Errorf("during the pause (-want +got):\n%s", diff)
		}
		time.Sleep(provider.RetryPause)
		probe := make(chan result)
		go func() { probe <- caller(t.Context(), c) }()
		synctest.Wait()
		if diff := cmp.Diff(result{Value: 1}, caller(t.Context(), c)); diff != "" {
			t.Errorf("during a further fetch (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(result{Value: 1, After: provider.Timeout}, <-probe); diff != "" {
			t.Errorf("the caller that fetches (-want +got):\n%s", diff)
		}
	})
}

func TestFetchPanics(t *testing.T) {
	c := provider.NewCached(func(context.Context) (int, error) { panic("oops") }, time.Now)
	if _, err := c.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("got error %v, want the panic", err)
	}
}

// TestValues: the fetch has the values of the context, not its end.
func TestValues(t *testing.T) {
	type key struct{}
	c := provider.NewCached(func(ctx context.Context) (int, error) {
		n, _ := ctx.Value(key{}).(int)
		return n, ctx.Err()
	}, time.Now)
	if got, err := c.Get(context.WithValue(t.Context(), key{}, 7)); err != nil || got.Value != 7 {
		t.Errorf("got %v and %v, want 7", got, err)
	}
}

// TestGetAllocations: a cached value is read for each request with a token.
func TestGetAllocations(t *testing.T) {
	c := (&origin{}).cached()
	if _, err := c.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Get(ctx) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
