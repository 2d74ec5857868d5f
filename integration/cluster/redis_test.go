package cluster

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
	"github.com/guidonhq/guidon/store/storetest"
)

// openThroughRedis returns the store that a server uses, on top of the database. It is
// closed at the end of the test. Its Redis timeout is longer than a server's, so that a
// busy machine does not look like a failure of Redis.
func openThroughRedis(t testing.TB, database cache.SharedSource, connection rediscache.Connection) (*cache.Shared, *rediscache.Source) {
	t.Helper()
	client, err := rediscache.Open(connection)
	if err != nil {
		t.Fatal(err)
	}
	source := rediscache.New(database, client, rediscache.Options{Timeout: time.Second})
	t.Cleanup(func() { _ = source.Close() })
	return cache.NewShared(source, cache.Freshness{}), source
}

// TestStoreRedis runs the conformance suite through Redis. Each store has an empty Redis of
// its own, which looks as if it had been running for long.
func TestStoreRedis(t *testing.T) {
	harness.AnyDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		server := harness.StartRedis(t)
		client := redis.NewClient(&redis.Options{Addr: server.Addr})
		defer client.Close()
		life := regexp.MustCompile(`run_id:(\w+)`).FindStringSubmatch(client.Info(t.Context(), "server").Val())[1]
		var hits atomic.Uint64
		storetest.RunAgain(t, func(t *testing.T) service.Store {
			if err := client.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"default", "other", service.AuthenticationsKey} {
				if err := client.HSet(t.Context(), "guidon:revision:"+key, "life", life, "since", 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			shared, source := openThroughRedis(t, harness.OpenStore(t, s.Migrated(t)), rediscache.Connection{URL: server.URL})
			t.Cleanup(func() { hits.Add(source.Stats().Revisions.Hits) })
			return shared
		})
		t.Logf("%d hits in Redis", hits.Load())
		if hits.Load() == 0 {
			t.Error("Redis was not used")
		}
	})
}

// redisFaults are faults of Redis. They alternate with times without faults that are long
// enough for Redis to be used again.
var redisFaults = []struct {
	name    string
	inflict func(t *testing.T, r *faultyRedis)
}{
	{"no fault", func(*testing.T, *faultyRedis) { time.Sleep(recovery) }},
	// After the restart it has the data of the last save, without the writes since.
	{"killed", func(t *testing.T, r *faultyRedis) {
		for range 4 {
			if err := r.admin.Save(t.Context()).Err(); err != nil {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
			r.server.Kill()
			if err := r.server.Restart(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(recovery)
		}
	}},
	{"frozen", func(_ *testing.T, r *faultyRedis) {
		for _, still := range []time.Duration{150 * time.Millisecond, 500 * time.Millisecond, 900 * time.Millisecond, 1200 * time.Millisecond, 5 * time.Second} {
			r.server.Freeze()
			time.Sleep(still)
			r.server.Thaw()
			time.Sleep(time.Second)
		}
	}},
	{"flushed", func(t *testing.T, r *faultyRedis) {
		for range 3 {
			for range 20 {
				if err := r.admin.FlushAll(t.Context()).Err(); err != nil {
					t.Error(err)
				}
				time.Sleep(rand.N(30 * time.Millisecond))
			}
			time.Sleep(recovery)
		}
	}},
	{"failed over", func(t *testing.T, r *faultyRedis) {
		for range 2 {
			host, port, _ := strings.Cut(r.server.Addr, ":")
			replica := harness.StartRedis(t, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0")
			admin := redis.NewClient(&redis.Options{Addr: replica.Addr})
			defer admin.Close()
			for end := time.Now().Add(harness.Patience); !strings.Contains(admin.Info(t.Context(), "replication").Val(), "master_link_status:up"); {
				if time.Now().After(end) {
					t.Error("the replica is not in sync")
					return
				}
				time.Sleep(10 * time.Millisecond) // there is no notification
			}
			r.server.Kill()
			if err := admin.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
				t.Error(err)
			}
			r.proxy.redirect(replica.Addr)
			r.server = replica
			time.Sleep(recovery)
		}
	}},
}

// recovery is more than the time until Redis is used again.
const recovery = 4 * time.Second

// faultyRedis is a Redis to which the servers connect through a proxy.
type faultyRedis struct {
	server *dbtest.Server
	proxy  *tcpProxy
	admin  *redis.Client
	url    string
}

func newFaultyRedis(t *testing.T) *faultyRedis {
	t.Helper()
	r := &faultyRedis{server: harness.StartRedis(t)}
	r.proxy, r.url = newTCPProxy(t, r.server.URL, 0, nil)
	r.admin = redis.NewClient(&redis.Options{Addr: r.server.Addr})
	t.Cleanup(func() { _ = r.admin.Close() })
	return r
}

// TestLinearizableThroughRedis is TestLinearizable with a Redis that is killed, frozen,
// flushed or replaced. That has no effect other than slower writes.
func TestLinearizableThroughRedis(t *testing.T) {
	harness.Postgres.Need(t)
	for _, fault := range redisFaults {
		t.Run(fault.name, func(t *testing.T) {
			r := newFaultyRedis(t)
			c := startCluster(t, instances, harness.Postgres.Migrated(t), harness.ThroughRedis(r.url)...)
			var over atomic.Bool
			var inflicting sync.WaitGroup
			defer inflicting.Wait()
			inflicting.Go(func() {
				defer over.Store(true)
				time.Sleep(recovery)
				fault.inflict(t, r)
			})
			linearizable(t, c, 50, func(int) bool { // mostly reads: Redis is not queried during a write
				time.Sleep(rand.N(20 * time.Millisecond)) // otherwise there would be too many calls to check
				return !over.Load()
			})
			hits := 0
			for _, s := range c {
				hits += metric(t, s, `guidon_cache_hit_total{cache="redis",type="revision"}`)
			}
			t.Logf("%d hits in Redis", hits)
			if hits == 0 {
				t.Error("Redis was not used")
			}
		})
	}
}

// metric returns the value of the server's metric, or 0 if it does not exist.
func metric(t *testing.T, s *harness.Server, name string) int {
	t.Helper()
	text := s.Must(t, "GET", "/metrics", nil, nil).Body
	match := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(text)
	if match == nil {
		return 0
	}
	value, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		t.Error(err)
	}
	return int(value)
}

// TestNeverStale: a write acknowledged by one instance is visible to the next request to
// any other.
func TestNeverStale(t *testing.T) {
	const pairs, writers = 10_000, 8
	harness.Postgres.Need(t)
	for name, env := range map[string]func() []string{
		"database": func() []string { return nil },
		"Redis":    func() []string { return harness.ThroughRedis(harness.StartRedis(t).URL) },
	} {
		t.Run(name, func(t *testing.T) {
			c := startCluster(t, instances, harness.Postgres.Migrated(t), env()...)
			var stale atomic.Int64
			var running sync.WaitGroup
			for w := range writers {
				namespace := fmt.Sprint("writer-", w)
				path := "/api/v1/namespaces/" + namespace + "/flags"
				c[0].Must(t, "POST", "/api/v1/namespaces", map[string]any{"key": namespace, "name": namespace}, nil)
				c[0].Must(t, "POST", path, map[string]any{"key": "f", "name": "0"}, nil)
				running.Go(func() {
					for n := range pairs / writers {
						want := fmt.Sprint(n)
						if a, err := c[n%len(c)].Call(t.Context(), "PUT", path+"/f", map[string]any{"name": want}); err != nil || a.Status != http.StatusOK {
							t.Errorf("%v, status %d: %s", err, a.Status, a.Body)
							return
						}
						a, err := c[(n+1+n/3%2)%len(c)].Call(t.Context(), "GET", path+"/f", nil)
						if err != nil || a.Status != http.StatusOK {
							t.Errorf("%v, status %d: %s", err, a.Status, a.Body)
							return
						}
						if !strings.Contains(string(a.Body), `"name":"`+want+`"`) {
							stale.Add(1)
						}
					}
				})
			}
			begin := time.Now()
			running.Wait()
			t.Logf("%d pairs in %v, %d stale", pairs, time.Since(begin), stale.Load())
			if stale.Load() != 0 {
				t.Errorf("%d of %d reads were stale", stale.Load(), pairs)
			}
		})
	}
}

// TestBoundedThroughRedis: in mode bounded, a change is visible on other instances long
// before the maximum age.
func TestBoundedThroughRedis(t *testing.T) {
	const writes = 300
	harness.Postgres.Need(t)
	c := startCluster(t, instances, harness.Postgres.Migrated(t), append(harness.ThroughRedis(harness.StartRedis(t).URL), bounded(time.Minute)...)...)
	const path = "/api/v1/namespaces/default/flags/f"
	c[0].Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "f", "name": "0"}, nil)
	for _, s := range c[1:] {
		for range 2 { // so that the namespace counts as in use
			s.Must(t, "GET", path, nil, nil, "Cache-Control: no-cache")
		}
	}
	var delays []time.Duration
	for n := range writes {
		want := `"name":"` + fmt.Sprint(n) + `"`
		var seeing sync.WaitGroup
		seen := make([]time.Time, len(c))
		for i, s := range c[1:] {
			seeing.Go(func() {
				for end := time.Now().Add(harness.Patience); time.Now().Before(end); {
					a, err := s.Call(t.Context(), "GET", path, nil)
					if err != nil {
						t.Error(err)
						return
					}
					if strings.Contains(string(a.Body), want) {
						seen[i+1] = time.Now()
						return
					}
				}
				t.Error("the change is not visible")
			})
		}
		c[0].Must(t, "PUT", path, map[string]any{"name": fmt.Sprint(n)}, nil)
		acknowledged := time.Now()
		seeing.Wait()
		for _, at := range seen[1:] {
			delays = append(delays, max(at.Sub(acknowledged), 0))
		}
	}
	slices.Sort(delays)
	half, most := delays[len(delays)/2], delays[len(delays)*99/100]
	t.Logf("visible after %v (median), %v (99th percentile), %v (longest)", half, most, delays[len(delays)-1])
	if half > 50*time.Millisecond || most > time.Second {
		t.Errorf("visible after %v (median), %v (99th percentile)", half, most)
	}
}

// TestRedisGoneAtStart: servers start without Redis, and use it once it is available.
func TestRedisGoneAtStart(t *testing.T) {
	harness.Postgres.Need(t)
	r := harness.StartRedis(t)
	r.Kill()
	c := startCluster(t, instances, harness.Postgres.Migrated(t), harness.ThroughRedis(r.URL)...)
	begin := time.Now()
	created := createBoolean(t, c[0], "f")
	t.Logf("a write without Redis took %v", time.Since(begin))
	for _, s := range c {
		if a := evaluate(t, s, "f"); a.Status != http.StatusOK || a.Header.Get("Guidon-Revision") != created {
			t.Errorf("status %d, revision %s: %s", a.Status, a.Header.Get("Guidon-Revision"), a.Body)
		}
	}
	if up := metric(t, c[0], "guidon_cache_redis_up"); up != 0 {
		t.Error("guidon_cache_redis_up is 1 without Redis")
	}
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, s := range c {
		end := time.Now().Add(harness.Patience)
		for metric(t, s, `guidon_cache_hit_total{cache="redis",type="revision"}`) == 0 {
			if time.Now().After(end) {
				t.Fatalf("instance %d does not use Redis", i)
			}
			evaluate(t, s, "f")
		}
		if up := metric(t, s, "guidon_cache_redis_up"); up != 1 {
			t.Errorf("instance %d: guidon_cache_redis_up is not 1", i)
		}
	}
	if log := c[0].Log(); !strings.Contains(log, "Redis is unavailable") {
		t.Errorf("the log does not say that Redis was away:\n%s", log)
	}
}

// TestCommandsNotifyRedis: a write by a command is visible to the next request to a server.
func TestCommandsNotifyRedis(t *testing.T) {
	harness.Postgres.Need(t)
	database, env := harness.Postgres.Migrated(t), harness.ThroughRedis(harness.StartRedis(t).URL)
	s := harness.Start(t, database, env...)
	const path = "/api/v1/namespaces/default/flags"
	hits := func() int { return metric(t, s, `guidon_cache_hit_total{cache="redis",type="revision"}`) }
	for n := range 5 {
		key, before := fmt.Sprint("flag-", n), hits()
		for end := time.Now().Add(harness.Patience); hits() == before; { // until Redis has the previous revision
			if time.Now().After(end) {
				t.Fatal("Redis is not used")
			}
			s.Must(t, "GET", path, nil, nil)
		}
		c := harness.Command(t, database, "import", "-", "--skip-existing")
		c.Env = append(c.Env, env...)
		c.Stdin = strings.NewReader("version: '1.4'\nnamespace: default\nflags: [{key: " + key + ", name: Flag}]\n")
		harness.Ends(t, c, true, "default")
		s.Must(t, "GET", path+"/"+key, nil, nil)
	}
}
