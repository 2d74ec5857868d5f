package configuration

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// database is the database of Guidon, which is never that of Flipt: their tables have the
// same names.
type database struct {
	values  map[string]string // by key
	remark  string
	sqlite  bool
	written bool
}

// newName is the name of the database, next to that of Flipt.
const newName = "guidon"

const (
	ownFile     = "a new file, because Guidon needs a database of its own; take Flipt's data over with guidon import --from-flipt-database"
	ownDatabase = "a new database on the same server, because Guidon needs one of its own: create it, run guidon migrate up, and take Flipt's data over with guidon import --from-flipt-database"
	ownURL      = "Guidon needs a database of its own: set GUIDON_DB_URL to the URL of a new one"
)

// newDatabase returns the database for Guidon, and finds out which one is Flipt's. As in
// Flipt, a URL wins over parts.
func (t *translation) newDatabase() *database {
	switch {
	case t.text("db.url") != "":
		return t.fromURL(t.text("db.url"))
	case t.text("db.protocol") != "":
		return t.fromParts()
	}
	t.Old = "file:/var/opt/flipt/flipt.db"
	return &database{sqlite: true, remark: "db.url is not set, so the database is the default one of Guidon, not of Flipt; take Flipt's data over with guidon import --from-flipt-database"}
}

func (t *translation) fromURL(text string) *database {
	unknown := &database{values: map[string]string{"db.url": "${GUIDON_DB_URL}"}, remark: ownURL}
	if isReference(text) {
		return unknown
	}
	text = strings.Replace(text, "sqlite3:", "sqlite:", 1)
	switch config.EngineOf(text) {
	case "":
		return unknown
	case config.EngineSQLite:
		_, file, _ := strings.Cut(text, ":")
		file, _, _ = strings.Cut(strings.TrimPrefix(file, "//"), "?")
		return t.newFile(file)
	}
	u, err := url.Parse(text)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return unknown
	}
	t.Old, t.Server = text, true
	u.Path, u.RawPath = "/"+otherName(strings.Trim(u.Path, "/")), ""
	return &database{values: map[string]string{"db.url": u.String()}, remark: ownDatabase}
}

// newFile returns a file next to that of Flipt.
func (t *translation) newFile(file string) *database {
	if file == "" || strings.Contains(file, ":memory:") || isReference(file) {
		return &database{sqlite: true, remark: "the database is the default one; Guidon needs a file"}
	}
	t.Old = "file:" + file
	next := path.Join(path.Dir(file), otherName(strings.TrimSuffix(path.Base(file), ".db"))+".db")
	return &database{values: map[string]string{"db.url": "file:" + next}, sqlite: true, remark: ownFile}
}

// otherName returns a name for the database of Guidon that is not that of Flipt.
func otherName(old string) string {
	if old == newName {
		return newName + "_new"
	}
	return newName
}

func (t *translation) fromParts() *database {
	protocol := strings.ToLower(t.text("db.protocol"))
	if protocol == "sqlite" || protocol == "file" {
		return t.newFile(path.Join(t.text("db.host"), t.text("db.name")))
	}
	d := &database{values: make(map[string]string), remark: ownDatabase}
	secret := false
	for _, key := range config.DatabaseParts {
		if text := t.text(key); text != "" {
			d.values[key] = text
			secret = secret || isReference(text)
		}
	}
	d.values["db.name"] = otherName(t.text("db.name"))
	t.Server = true
	if !secret {
		port, _ := strconv.Atoi(t.text("db.port"))
		t.Old = config.DB{
			Protocol: protocol, Host: t.text("db.host"), Port: port, Name: t.text("db.name"),
			User: t.text("db.user"), Password: t.text("db.password"),
		}.Combined()
	}
	return d
}

// putDatabase writes the database in the place of the first key about it.
func (t *translation) putDatabase(s *setting) {
	if _, ok := t.db.values[s.key]; !ok && t.text("db.url") != "" && s.key != "db.url" {
		t.find(s, "is not needed: db.url takes precedence")
		return
	}
	if t.db.written {
		return
	}
	t.db.written = true
	t.found(s, t.db.remark)
	if len(t.db.values) == 0 {
		t.out.remark("db", t.db.remark)
		return
	}
	comment := t.db.remark
	for _, key := range append([]string{"db.url"}, config.DatabaseParts...) {
		value, ok := t.db.values[key]
		if !ok {
			continue
		}
		node := scalar(value)
		if original := t.settings[key]; original != nil && original.value != nil && original.value.Value == value {
			node = original.value
		}
		if key == "db.url" || key == "db.name" {
			t.out.put(key, node, comment)
		} else {
			t.out.put(key, node)
		}
	}
}

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
	case d > config.MaxNetTimeout:
		t.find(s, "is left at its default: "+s.entry.Note)
	default:
		return false
	}
	return true
}
