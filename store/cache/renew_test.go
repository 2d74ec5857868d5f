package cache_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/store/cache"
)

// A caller that was notified of a change loads it, so that the next request does not
// wait. Keys that are not in use are not queried.
func TestRenew(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		f.set("b", 1, 1)
		f.set("unused", 1, 1)
		f.set(authentications, 1, 1)
		s := cache.NewShared(f, cache.Freshness{MaxAge: time.Hour})
		renew := func(want []string, keys ...string) {
			t.Helper()
			before := len(f.queried)
			if err := s.Renew(t.Context(), keys...); err != nil {
				t.Error(err)
			}
			got := slices.Concat(f.queried[before:]...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("queries of Renew(%v) (-want +got):\n%s", keys, diff)
			}
		}
		renew(nil)
		for _, key := range []string{"unused", "a", "b", authentications} {
			for range 2 { // after one read it is not yet in use
				wantNumber(t, "at first", read(t.Context(), s, key), 1)
			}
			if key == "unused" {
				time.Sleep(2 * time.Minute)
			}
		}
		for _, key := range []string{"a", "b", authentications} {
			f.set(key, 2, 2)
		}
		renew(nil, "unused", "nobody")
		renew([]string{"a"}, "a", "unused")
		wantNumber(t, "renewed", read(t.Context(), s, "a"), 2)
		wantNumber(t, "not renewed", read(t.Context(), s, "b"), 1)
		renew([]string{authentications, "a", "b"})
		loads := len(f.loads)
		for _, key := range []string{"b", authentications} {
			wantNumber(t, "renewed with everything", read(t.Context(), s, key), 2)
		}
		if len(f.loads) != loads {
			t.Error("a request loaded a renewed state")
		}
	})
}
