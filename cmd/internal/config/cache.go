package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/store/redact"
)

// Cache configures how fresh responses are.
type Cache struct {
	Mode     string        `key:"mode" default:"strict" options:"strict bounded" fold:"true" doc:"How a server ensures that its data in memory is current. strict: it queries the database before each response. bounded: it queries ahead of time, so that requests do not wait, and no response is older than cache.max_age. bounded is not for SQLite, which needs no queries."`
	MaxAge   time.Duration `key:"max_age" default:"1s" min:"0s" doc:"Maximum age of responses in the mode bounded, from 100ms to 1h. It has no effect in the mode strict, which accepts only the default."`
	MaxStale time.Duration `key:"max_stale" default:"24h" min:"0s" doc:"While the database is unavailable, flags are evaluated and tokens accepted from memory, if the data was current at most this long ago. Such responses have the header Guidon-Stale. 0s rejects these requests; any other value must be at least cache.max_age. It has no effect with SQLite."`
	Backend  string        `key:"backend" default:"memory" options:"memory redis" fold:"true" doc:"memory: each server queries the database on its own. redis: servers share query results and snapshots in Redis, and notify each other of changes; all programs that use the database must then have the same cache.redis. Either way, responses come from the server's own memory and are as fresh as cache.mode demands. redis is not for SQLite, which has one server."`
	Redis    Redis         `key:"redis" doc:"The Redis of cache.backend redis: 7 or later, or Valkey 8."`
}

// Redis configures the connections to Redis.
type Redis struct {
	URL             string        `key:"url" secret:"true" doc:"redis://user:password@host:port/database, rediss:// for TLS, or unix:///path for a socket. With the mode cluster, or several Sentinels, further nodes follow as ?addr=host:port&addr=…; with the mode sentinel, which requires ?master_name=…, the username and password of Redis itself are parameters, too. It is never shown."`
	Mode            string        `key:"mode" default:"single" options:"single cluster sentinel" fold:"true" doc:"What the URL refers to: one server, a node of a cluster, or a Sentinel."`
	Prefix          string        `key:"prefix" default:"guidon" doc:"Prefix of all keys and of the channel. Installations that share a Redis must have different ones."`
	CACertPath      string        `key:"ca_cert_path" doc:"PEM file of the certificate authorities trusted for Redis, instead of those of the system."`
	PoolSize        int           `key:"pool_size" default:"0" min:"0" max:"1000" doc:"Maximum number of connections kept open; 0 lets the service choose."`
	MinIdleConn     int           `key:"min_idle_conn" default:"0" min:"0" max:"1000" doc:"Minimum number of idle connections, opened in advance."`
	ConnMaxIdleTime time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s" doc:"A connection that has been idle for this long is closed; 0s lets the service choose."`
	NetTimeout      time.Duration `key:"net_timeout" default:"100ms" min:"1ms" doc:"How long a request waits for a response from Redis before it queries the database, at most 1s. After that, requests query the database immediately until Redis responds again."`
}

// maxNetTimeout is the longest cache.redis.net_timeout. By then the database would have
// responded long ago.
const maxNetTimeout = time.Second

// The backends of the cache.
const (
	BackendMemory = "memory"
	BackendRedis  = "redis"
)

// The modes of the cache.
const (
	CacheStrict  = "strict"
	CacheBounded = "bounded"
)

// Default and limits of cache.max_age. Below the minimum, the mode strict costs as
// little. Beyond the maximum, the limit is of no use.
const (
	defaultMaxAge = time.Second
	minMaxAge     = 100 * time.Millisecond
	maxMaxAge     = time.Hour
)

// Bound returns how old a response may be while the database is available.
func (c Cache) Bound() time.Duration {
	if c.Mode == CacheBounded {
		return c.MaxAge
	}
	return 0
}

func (c Cache) check(db DB, found *problems) {
	bounded := c.Mode == CacheBounded
	if bounded && EngineOf(db.URL) == EngineSQLite {
		found.key("cache.mode", "must be strict for an SQLite file: its only server sees every change immediately")
	}
	switch {
	case bounded && (c.MaxAge < minMaxAge || c.MaxAge > maxMaxAge):
		found.key("cache.max_age", fmt.Sprintf("must be from 100ms to 1h, not %q", clock.Text(c.MaxAge)))
	case !bounded && c.MaxAge != defaultMaxAge:
		found.key("cache.max_age", "requires cache.mode (GUIDON_CACHE_MODE) bounded; strict responses are never older than the request")
	}
	c.checkRedis(db, found)
	if c.MaxStale != 0 && c.MaxStale < c.Bound() {
		found.key("cache.max_stale", "must be 0s, which disables stale responses, or at least cache.max_age")
	}
}

// redisSchemes are the valid schemes of cache.redis.url.
var redisSchemes = []string{"redis://", "rediss://", "unix://"}

// checkRedis never quotes the URL, which may contain a password.
func (c Cache) checkRedis(db DB, found *problems) {
	r := c.Redis
	known := slices.ContainsFunc(redisSchemes, func(scheme string) bool { return strings.HasPrefix(r.URL, scheme) })
	switch used := c.Backend == BackendRedis; {
	case used && EngineOf(db.URL) == EngineSQLite:
		found.key("cache.backend", "must be memory for an SQLite file: there is only one server")
	case used && r.URL == "":
		found.key("cache.redis.url", "is required if cache.backend is redis")
	case !used && r.URL != "":
		found.key("cache.redis.url", "requires cache.backend (GUIDON_CACHE_BACKEND) redis")
	case redact.Check(r.URL) != nil:
		found.key("cache.redis.url", redact.Check(r.URL).Error())
	case r.URL != "" && !known:
		found.key("cache.redis.url", "must have the scheme redis://, rediss:// or unix://")
	}
	if r.NetTimeout > maxNetTimeout {
		found.key("cache.redis.net_timeout", fmt.Sprintf("must be at most 1s, not %q", clock.Text(r.NetTimeout)))
	}
	if r.Prefix == "" {
		found.key("cache.redis.prefix", "must not be empty")
	}
}
