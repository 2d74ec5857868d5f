package configuration

import (
	"net"
	"net/url"
	"path"
	"strings"

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

// isDatabase reports whether the key says which database to use.
func isDatabase(key string) bool {
	switch key {
	case "db.url", "db.protocol", "db.host", "db.port", "db.name", "db.user", "db.password":
		return true
	}
	return false
}

// newDatabase returns the database for Guidon, and finds out which one is Flipt's. As in
// Flipt, a URL wins over parts.
func (t *translation) newDatabase() *database {
	switch {
	case t.text("db.url") != "":
		return t.fromURL(t.text("db.url"))
	case t.text("db.protocol") != "":
		return t.fromParts()
	}
	t.old = "file:/var/opt/flipt/flipt.db"
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
	t.old, t.server = text, true
	u.Path, u.RawPath = "/"+otherName(strings.Trim(u.Path, "/")), ""
	return &database{values: map[string]string{"db.url": u.String()}, remark: ownDatabase}
}

// newFile returns a file next to that of Flipt.
func (t *translation) newFile(file string) *database {
	if file == "" || strings.Contains(file, ":memory:") || isReference(file) {
		return &database{sqlite: true, remark: "the database is the default one; Guidon needs a file"}
	}
	t.old = "file:" + file
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
	for _, part := range []string{"protocol", "host", "port", "name", "user", "password"} {
		if text := t.text("db." + part); text != "" {
			d.values["db."+part] = text
			secret = secret || isReference(text)
		}
	}
	d.values["db.name"] = otherName(t.text("db.name"))
	t.server = true
	if !secret {
		u := url.URL{Scheme: protocol, Host: t.text("db.host"), Path: "/" + t.text("db.name")}
		if port := t.text("db.port"); port != "" && port != "0" {
			u.Host = net.JoinHostPort(t.text("db.host"), port)
		}
		if user := t.text("db.user"); user != "" {
			u.User = url.UserPassword(user, t.text("db.password"))
		}
		t.old = u.String()
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
	for _, part := range []string{"url", "protocol", "host", "port", "name", "user", "password"} {
		value, ok := t.db.values["db."+part]
		if !ok {
			continue
		}
		node := scalar(value)
		if original := t.settings["db."+part]; original != nil && original.value != nil && original.value.Value == value {
			node = original.value
		}
		if part == "url" || part == "name" {
			t.out.put("db."+part, node, comment)
		} else {
			t.out.put("db."+part, node)
		}
	}
}
