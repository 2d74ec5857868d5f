package config

import (
	"fmt"
	"time"
)

// Cache says how fresh answers are.
type Cache struct {
	Mode     string        `key:"mode" default:"strict" options:"strict bounded" fold:"true" doc:"How a server knows that what it holds in memory is current. strict: it asks the database before each answer. bounded: it asks ahead of time, so that requests do not wait, and no answer is older than cache.max_age; not for SQLite, where nobody has to be asked."`
	MaxAge   time.Duration `key:"max_age" default:"1s" min:"0s" doc:"The bound of the mode bounded, from 100ms to 1h. It says nothing in the other mode, where only the default is accepted."`
	MaxStale time.Duration `key:"max_stale" default:"24h" min:"0s" doc:"While the database does not answer, evaluations are answered from memory, and tokens accepted, with a state that was current at most this long ago; 0s refuses them. Such answers bear the header Guidon-Stale. At least cache.max_age otherwise. With SQLite there is nothing of the kind."`
}

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
	if c.MaxStale != 0 && c.MaxStale < c.Bound() {
		found.key("cache.max_stale", "must be 0s, which refuses stale answers, or at least cache.max_age")
	}
}
