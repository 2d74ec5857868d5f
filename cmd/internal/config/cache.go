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
	Mode     string        `key:"mode" default:"strict" options:"strict bounded" fold:"true"`
	MaxAge   time.Duration `key:"max_age" default:"1s" min:"0s"`
	MaxStale time.Duration `key:"max_stale" default:"24h" min:"0s"`
	Backend  string        `key:"backend" default:"memory" options:"memory redis" fold:"true"`
	Redis    Redis         `key:"redis"`
}

// Redis configures the connections to Redis.
type Redis struct {
	URL             string        `key:"url" secret:"true"`
	Mode            string        `key:"mode" default:"single" options:"single cluster sentinel" fold:"true"`
	Prefix          string        `key:"prefix" default:"guidon"`
	CACertPath      string        `key:"ca_cert_path"`
	PoolSize        int           `key:"pool_size" default:"0" min:"0" max:"1000"`
	MinIdleConn     int           `key:"min_idle_conn" default:"0" min:"0" max:"1000"`
	ConnMaxIdleTime time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s"`
	NetTimeout      time.Duration `key:"net_timeout" default:"100ms" min:"1ms"`
}

// MaxNetTimeout is the longest cache.redis.net_timeout. By then the database would have
// responded long ago.
const MaxNetTimeout = time.Second

// The values of cache.backend and cache.mode that are not the defaults.
const (
	BackendRedis = "redis"
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
	if r.NetTimeout > MaxNetTimeout {
		found.key("cache.redis.net_timeout", fmt.Sprintf("must be at most 1s, not %q", clock.Text(r.NetTimeout)))
	}
	if r.Prefix == "" {
		found.key("cache.redis.prefix", "must not be empty")
	}
}
