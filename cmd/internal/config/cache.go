package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/store/redact"
)

// Cache says how fresh answers are.
type Cache struct {
	Mode     string        `key:"mode" default:"strict" options:"strict bounded" fold:"true" doc:"How a server knows that what it holds in memory is current. strict: it asks the database before each answer. bounded: it asks ahead of time, so that requests do not wait, and no answer is older than cache.max_age; not for SQLite, where nobody has to be asked."`
	MaxAge   time.Duration `key:"max_age" default:"1s" min:"0s" doc:"The bound of the mode bounded, from 100ms to 1h. It says nothing in the other mode, where only the default is accepted."`
	MaxStale time.Duration `key:"max_stale" default:"24h" min:"0s" doc:"While the database does not answer, evaluations are answered from memory, and tokens accepted, with a state that was current at most this long ago; 0s refuses them. Such answers bear the header Guidon-Stale. At least cache.max_age otherwise. With SQLite there is nothing of the kind."`
	Backend  string        `key:"backend" default:"memory" options:"memory redis" fold:"true" doc:"memory: each server asks the database by itself. redis: servers share what they ask, and the snapshots, in Redis, and tell each other of changes; all who use the database must then have the same cache.redis. Either way answers come from the server's own memory, and are as fresh as cache.mode says. Not for SQLite, which has one server."`
	Redis    Redis         `key:"redis" doc:"The Redis of cache.backend redis: 7 or later, or Valkey 8."`
}

// Redis says where Redis is and how to keep connections to it.
type Redis struct {
	URL             string        `key:"url" secret:"true" doc:"redis://user:password@host:port/database, rediss:// for TLS, or unix:///path for a socket. With the mode cluster, or several Sentinels, further nodes follow as ?addr=host:port&addr=…; with the mode sentinel, which needs ?master_name=…, username and password of Redis itself are parameters, too. It is never shown."`
	Mode            string        `key:"mode" default:"single" options:"single cluster sentinel" fold:"true" doc:"What the URL leads to: one server, a node of a cluster, or a Sentinel."`
	Prefix          string        `key:"prefix" default:"guidon" doc:"Beginning of all keys and of the channel. Installations that share a Redis need different ones."`
	CACertPath      string        `key:"ca_cert_path" doc:"PEM file of the authorities that may have signed the certificate of Redis, instead of the system's."`
	PoolSize        int           `key:"pool_size" default:"0" min:"0" max:"1000" doc:"Most connections kept open; 0 lets the service choose."`
	MinIdleConn     int           `key:"min_idle_conn" default:"0" min:"0" max:"1000" doc:"Connections that are opened ahead of their use."`
	ConnMaxIdleTime time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s" doc:"A connection that was idle for this long is closed; 0s lets the service choose."`
	NetTimeout      time.Duration `key:"net_timeout" default:"100ms" min:"1ms" doc:"How long a request waits for one answer of Redis before it asks the database, at most 1s. After that, requests ask the database at once until Redis answers again."`
}

// maxNetTimeout bounds the wait for Redis. Above, the database would have answered
// long before.
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

// The bounds of cache.max_age. Below, strict costs as little; above, it is no
// longer the freshness of flags that is bounded.
const (
	defaultMaxAge = time.Second
	minMaxAge     = 100 * time.Millisecond
	maxMaxAge     = time.Hour
)

// Bound returns how old an answer may be while the database answers.
func (c Cache) Bound() time.Duration {
	if c.Mode == CacheBounded {
		return c.MaxAge
	}
	return 0
}

func (c Cache) check(db DB, found *problems) {
	bounded := c.Mode == CacheBounded
	if bounded && EngineOf(db.URL) == EngineSQLite {
		found.key("cache.mode", "must be strict for an SQLite file: its one server sees every change at once")
	}
	switch {
	case bounded && (c.MaxAge < minMaxAge || c.MaxAge > maxMaxAge):
		found.key("cache.max_age", fmt.Sprintf("must be from 100ms to 1h, not %q", c.MaxAge))
	case !bounded && c.MaxAge != defaultMaxAge:
		found.key("cache.max_age", "is for cache.mode (GUIDON_CACHE_MODE) bounded; strict answers are never older than the request")
	}
	c.checkRedis(db, found)
	if c.MaxStale != 0 && c.MaxStale < c.Bound() {
		found.key("cache.max_stale", "must be 0s, which refuses stale answers, or at least cache.max_age")
	}
}

// redisSchemes are those of cache.redis.url.
var redisSchemes = []string{"redis://", "rediss://", "unix://"}

// checkRedis never quotes the URL, which may hold a password.
func (c Cache) checkRedis(db DB, found *problems) {
	r := c.Redis
	known := slices.ContainsFunc(redisSchemes, func(scheme string) bool { return strings.HasPrefix(r.URL, scheme) })
	switch used := c.Backend == BackendRedis; {
	case used && EngineOf(db.URL) == EngineSQLite:
		found.key("cache.backend", "must be memory for an SQLite file: its one server has nobody to share anything with")
	case used && r.URL == "":
		found.key("cache.redis.url", "is required when cache.backend is redis")
	case !used && r.URL != "":
		found.key("cache.redis.url", "is for cache.backend (GUIDON_CACHE_BACKEND) redis")
	case redact.Check(r.URL) != nil:
		found.key("cache.redis.url", redact.Check(r.URL).Error())
	case r.URL != "" && !known:
		found.key("cache.redis.url", "has no known scheme; use redis://, rediss:// or unix://")
	}
	if r.NetTimeout > maxNetTimeout {
		found.key("cache.redis.net_timeout", fmt.Sprintf("must be at most 1s, not %q", r.NetTimeout))
	}
	if r.Prefix == "" {
		found.key("cache.redis.prefix", "must not be empty")
	}
}
