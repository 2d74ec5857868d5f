package rediscache_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// startRedis starts a server for the test.
func startRedis(t testing.TB, flags ...string) *dbtest.Server {
	t.Helper()
	s, err := dbtest.Redis(context.Background(), flags...)
	if errors.Is(err, dbtest.ErrNotInstalled) && os.Getenv("INTEGRATION") != "1" {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// instance is one of several instances that share a database and a Redis.
type instance struct {
	*rediscache.Source
	client redis.UniversalClient
}

// newInstance returns an instance with a longer timeout for Redis than the default, so
// that a busy machine does not look like an unavailable Redis.
func newInstance(t testing.TB, url string, db cache.SharedSource) instance {
	t.Helper()
	return newInstanceWith(t, url, db, rediscache.Options{Timeout: time.Second})
}

func newInstanceWith(t testing.TB, url string, db cache.SharedSource, options rediscache.Options) instance {
	t.Helper()
	client, err := rediscache.Open(rediscache.Connection{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	s := rediscache.New(db, client, options)
	t.Cleanup(func() { _ = s.Close() })
	return instance{s, client}
}

// head returns the revision number of the key that the instance finds.
func (i instance) head(t testing.TB, key string) int64 {
	t.Helper()
	heads, err := i.Heads(t.Context(), []string{key})
	if err != nil {
		t.Fatal(err)
	}
	return heads[key].Number
}

// write changes the key.
func (i instance) write(t testing.TB, key string) {
	t.Helper()
	if _, err := i.Update(t.Context(), key, service.Write{}, nil); err != nil {
		t.Error(err)
	}
}

// warm stores the key in Redis so that the instance finds it there, without waiting for
// the end of the quarantine.
func (i instance) warm(t testing.TB, key string) {
	t.Helper()
	i.head(t, key)
	i.age(t, key, "since", time.Hour)
	i.head(t, key)
	before := i.Stats().Revisions.Hits
	i.head(t, key)
	if i.Stats().Revisions.Hits != before+1 {
		t.Fatal("Redis does not know the revision")
	}
}

// age makes a field of the state older, by moving it back in time.
func (i instance) age(t testing.TB, key, field string, by time.Duration) {
	t.Helper()
	if err := i.client.HIncrBy(t.Context(), "guidon:revision:"+key, field, -by.Milliseconds()).Err(); err != nil {
		t.Fatal(err)
	}
}

// database is a fake of which only the revisions matter.
type database struct {
	cache.SharedSource                                            // nil: no other method is called
	updating           func()                                     // before a write is committed
	updated            func()                                     // after that, before it is acknowledged
	headsRead          func()                                     // after the revisions have been read, before they are returned
	load               func(namespace string) *guidon.Snapshot    // returns what is stored
	loaded             func(namespace string, s *guidon.Snapshot) // after load

	mu    sync.Mutex
	heads map[string]guidon.Revision
	reads int
}

func newDatabase() *database {
	return &database{heads: map[string]guidon.Revision{"a": {Number: 1, Stamp: -1}}}
}

func call(hook func()) {
	if hook != nil {
		hook()
	}
}

func (d *database) Heads(_ context.Context, keys []string) (map[string]guidon.Revision, error) {
	d.mu.Lock()
	d.reads++
	heads := maps.Clone(d.heads)
	d.mu.Unlock()
	maps.DeleteFunc(heads, func(key string, _ guidon.Revision) bool {
		for _, k := range keys {
			if k == key {
				return false
			}
		}
		return true
	})
	call(d.headsRead)
	return heads, nil
}

// count returns how often the revisions have been read.
func (d *database) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

func (d *database) Update(_ context.Context, key string, _ service.Write, _ func(context.Context, service.Tx) error) (int64, error) {
	call(d.updating)
	d.mu.Lock()
	r := d.heads[key]
	d.heads[key] = guidon.Revision{Number: r.Number + 1, Stamp: r.Stamp - 1}
	d.mu.Unlock()
	call(d.updated)
	return r.Number + 1, nil
}

func (d *database) UpdateMirrored(ctx context.Context, key string, w service.Write, _ service.Mirror[guidon.SnapshotDelta], fn func(context.Context, service.Tx) error) (int64, error) {
	return d.Update(ctx, key, w, fn)
}

func (d *database) UpdateAuthenticationsMirrored(ctx context.Context, w service.Write, _ service.Mirror[service.AuthenticationDelta], _ func(context.Context, service.AuthenticationTx) error) error {
	_, err := d.Update(ctx, service.AuthenticationsKey, w, nil)
	return err
}

func (d *database) Load(_ context.Context, namespace string, _ *guidon.Snapshot) (*guidon.Snapshot, error) {
	s := d.load(namespace)
	if d.loaded != nil {
		d.loaded(namespace, s)
	}
	return s, nil
}

func (d *database) LoadAuthentications(context.Context, *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	return service.NewAuthenticationSet(guidon.Revision{}, nil), nil
}
