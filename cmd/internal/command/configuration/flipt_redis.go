package configuration

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// maxNetTimeout is the longest cache.redis.net_timeout.
const maxNetTimeout = time.Second

// redis writes the keys about Redis, and reports whether it did.
func (t *translation) redis(s *setting) bool {
	switch {
	case s.key == "cache.backend" && s.value.Value != "redis":
		return false
	case !t.isTrue("cache.enabled"):
		t.find(s, "is not needed: Flipt does not use it, because cache.enabled is not true")
	case t.text("cache.backend") != "redis":
		t.find(s, "is not needed: Flipt does not use it, because cache.backend is not redis")
	case t.db.sqlite:
		t.find(s, "is not needed: an SQLite file has one server, whose responses are never stale")
	case s.entry.Status == config.FliptCombined:
		t.redisURL(s)
	case s.key == "cache.redis.net_timeout":
		return t.netTimeout(s)
	case s.key == "cache.redis.prefix" && s.value.Value == "":
	case s.key == "cache.backend":
		t.keep(s)
		if !t.redisDone && !t.hasRedisParts() {
			t.redisURL(s)
		}
	default:
		return false
	}
	return true
}

var redisParts = []string{"host", "port", "username", "password", "db", "require_tls"}

// hasRedisParts reports whether a part of the URL is set.
func (t *translation) hasRedisParts() bool {
	return slices.ContainsFunc(redisParts, func(part string) bool { return t.text("cache.redis."+part) != "" })
}

// redisURL writes the URL in the place of the first of its parts.
func (t *translation) redisURL(s *setting) {
	if t.redisDone {
		return
	}
	t.redisDone = true
	for _, part := range redisParts {
		if isReference(t.text("cache.redis." + part)) {
			const remark = "a part of it is a variable, and only a whole value can be one: set GUIDON_CACHE_REDIS_URL to redis://user:password@host:port/database"
			t.out.put("cache.redis.url", scalar("${GUIDON_CACHE_REDIS_URL}"), remark)
			t.found(s, "is a part of cache.redis.url here: "+remark)
			return
		}
	}
	u := url.URL{Scheme: "redis",
		Host: net.JoinHostPort(cmp.Or(t.text("cache.redis.host"), "localhost"), cmp.Or(t.text("cache.redis.port"), "6379"))}
	if t.isTrue("cache.redis.require_tls") {
		u.Scheme = "rediss"
	}
	user, password := t.text("cache.redis.username"), t.text("cache.redis.password")
	switch {
	case password != "":
		u.User = url.UserPassword(user, password)
	case user != "":
		u.User = url.User(user)
	}
	if db := t.text("cache.redis.db"); strings.Trim(db, "0") != "" {
		u.Path = "/" + db
	}
	t.out.put("cache.redis.url", scalar(u.String()))
	t.found(s, "host, port, user, password, database and TLS of Redis are parts of cache.redis.url here")
}

// netTimeout leaves out a timeout that Guidon does not allow.
func (t *translation) netTimeout(s *setting) bool {
	d, err := time.ParseDuration(t.duration(s).Value)
	switch {
	case err != nil:
		return false
	case d == 0:
		t.find(s, "is left at its default: 0 means none in Flipt")
	case d > maxNetTimeout:
		t.find(s, "is left at its default: "+s.entry.Note)
	default:
		return false
	}
	return true
}
