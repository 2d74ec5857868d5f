package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// parts returns the keys of the parts of the URL that are set.
func (d DB) parts() []string {
	var keys []string
	for _, part := range []struct {
		key string
		set bool
	}{
		{"db.protocol", d.Protocol != ""}, {"db.host", d.Host != ""}, {"db.port", d.Port != 0},
		{"db.name", d.Name != ""}, {"db.user", d.User != ""}, {"db.password", d.Password != ""},
	} {
		if part.set {
			keys = append(keys, part.key)
		}
	}
	return keys
}

// combine sets the URL to that of the parts, or to the default without any, unless it is
// set. As in Flipt, a URL wins over parts (operations 2.3), whose keys it returns.
func (d *DB) combine(otherwise string, found *problems) (unused []string) {
	keys := d.parts()
	switch {
	case d.URL != "":
		return keys
	case len(keys) == 0:
		d.URL = otherwise
	case d.checkParts(keys, found):
		d.URL = d.combined()
	default:
		found.without("db.url")
	}
	return nil
}

// checkParts reports whether the parts make a URL, and adds the problems of those that do
// not.
func (d DB) checkParts(keys []string, found *problems) bool {
	before := len(found.list)
	sqlite := engines[d.Protocol] == EngineSQLite
	switch {
	case found.unknown["db.url"]:
		return false
	case d.Protocol == "":
		found.key("db.protocol", "is required with "+strings.Join(keys, ", ")+"; or set db.url instead")
	case sqlite && (d.Port != 0 || d.User != "" || d.Password != ""):
		found.key("db.protocol", "must not be that of an SQLite file with db.port, db.user or db.password; only db.name is for its path")
	case !sqlite && d.Host == "":
		found.key("db.host", "is required with db.protocol "+d.Protocol)
	case !sqlite && (strings.ContainsAny(d.Host, "@?# ") || strings.Contains(d.Host, "://")):
		found.key("db.host", "must be a host name or an IP address, without scheme, user and port")
	case strings.Contains(d.Host, "/") && engines[d.Protocol] == EngineMySQL:
		found.key("db.host",
			"must be a host name or an IP address; for a socket, set db.url to mysql://user:password@localhost/database?socket=/path")
	case d.Password != "" && d.User == "":
		found.key("db.password", "requires db.user")
	}
	if d.Name == "" {
		found.key("db.name", "is required with "+strings.Join(keys, ", "))
	}
	return len(found.list) == before
}

// combined returns the URL of the parts.
func (d DB) combined() string {
	if engines[d.Protocol] == EngineSQLite {
		return "file:" + filepath.Join(d.Host, d.Name)
	}
	u := url.URL{Scheme: d.Protocol, Host: d.address(), Path: "/" + d.Name}
	switch {
	case d.Password != "":
		u.User = url.UserPassword(d.User, d.Password)
	case d.User != "":
		u.User = url.User(d.User)
	}
	if strings.HasPrefix(d.Host, "/") {
		u.RawQuery = url.Values{"host": {d.Host}}.Encode()
		if d.Port != 0 {
			u.RawQuery += "&port=" + strconv.Itoa(d.Port)
		}
	}
	return u.String()
}

// address returns the host and the port, or "" for the directory of a socket.
func (d DB) address() string {
	host := strings.TrimSuffix(strings.TrimPrefix(d.Host, "["), "]")
	switch {
	case strings.HasPrefix(host, "/"):
		return ""
	case d.Port != 0:
		return net.JoinHostPort(host, strconv.Itoa(d.Port))
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}
