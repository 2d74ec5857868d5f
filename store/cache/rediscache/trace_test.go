package rediscache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// TestTrace: each round trip is traced by its command, with its error.
func TestTrace(t *testing.T) {
	server := startRedis(t)
	var got []string
	var last error
	i := newInstanceWith(t, server.URL, newDatabase(), rediscache.Options{Timeout: time.Second, Trace: func(_ context.Context, system string) func(string, error) {
		return func(command string, err error) { got, last = append(got, system+" "+command), err }
	}})
	i.warm(t, "a")
	got = nil
	i.head(t, "a")
	i.write(t, "a")
	if diff := cmp.Diff([]string{"redis HMGET", "redis EVALSHA", "redis HDEL"}, got); diff != "" || last != nil {
		t.Errorf("error %v, -want +got:\n%s", last, diff)
	}
	server.Kill()
	i.head(t, "a")
	if last == nil || errors.Is(last, context.Canceled) {
		t.Errorf("got error %v", last)
	}
}
