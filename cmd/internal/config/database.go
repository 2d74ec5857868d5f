package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/store/redact"
)

// DB configures the connections to the database.
type DB struct {
	URL              string        `key:"url" default:"" defaultText:"file:/var/opt/guidon/guidon.db if that directory exists, otherwise guidon/guidon.db in the user's configuration directory" url:"true"`
	Protocol         string        `key:"protocol" options:"sqlite file postgres postgresql mysql mariadb cockroach cockroachdb" fold:"true"`
	Host             string        `key:"host"`
	Port             int           `key:"port" default:"0" min:"0" max:"65535"`
	Name             string        `key:"name"`
	User             string        `key:"user"`
	Password         string        `key:"password" secret:"true"`
	Auth             string        `key:"auth" default:"password" options:"password aws-iam" fold:"true"`
	MaxIdleConn      int           `key:"max_idle_conn" default:"0" min:"0" max:"10000"`
	MaxOpenConn      int           `key:"max_open_conn" default:"0" min:"0" max:"10000"`
	ConnMaxLifetime  time.Duration `key:"conn_max_lifetime" default:"0s" min:"0s"`
	ConnMaxIdleTime  time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s"`
	StatementTimeout time.Duration `key:"statement_timeout" default:"5s" min:"1ms"`
	ConnectTimeout   time.Duration `key:"connect_timeout" default:"10s" min:"1ms"`
	StartTimeout     time.Duration `key:"start_timeout" default:"1m" min:"1ms"`
	MigrateOnStart   string        `key:"migrate_on_start" default:"auto" options:"auto true false" fold:"true"`
}

// AuthAWS is the value of db.auth for AWS IAM tokens.
const AuthAWS = "aws-iam"

// The database engines that EngineOf returns.
const (
	EngineSQLite    = "sqlite"
	EnginePostgres  = "postgres"
	EngineCockroach = "cockroach"
	EngineMySQL     = "mysql" // and MariaDB
)

var engines = map[string]string{
	"file": EngineSQLite, "sqlite": EngineSQLite,
	"postgres": EnginePostgres, "postgresql": EnginePostgres,
	"cockroach": EngineCockroach, "cockroachdb": EngineCockroach, "crdb": EngineCockroach,
	"mysql": EngineMySQL, "mariadb": EngineMySQL,
}

// EngineOf returns the database engine of a URL or DSN, or "" if the string is neither.
func EngineOf(databaseURL string) string {
	scheme, rest, ok := strings.Cut(databaseURL, ":")
	engine := engines[strings.ToLower(scheme)]
	switch {
	case ok && engine == EngineSQLite, ok && engine != "" && strings.HasPrefix(rest, "//"):
		return engine
	case redact.IsKeywords(databaseURL):
		return EnginePostgres
	case redact.IsDriver(databaseURL):
		return EngineMySQL
	}
	return ""
}

// Shared reports whether other processes may write to the database at the same time.
func (d DB) Shared() bool { return EngineOf(d.URL) != EngineSQLite }

// Path returns the path of an SQLite database file.
func (d DB) Path() string {
	_, path, _ := strings.Cut(d.URL, ":")
	return strings.TrimPrefix(path, "//")
}

// Migrates reports whether a server applies pending schema steps when it starts.
func (d DB) Migrates() bool {
	if d.MigrateOnStart == "auto" {
		return !d.Shared()
	}
	return d.MigrateOnStart == "true"
}

// check never quotes the URL, which may contain a password.
func (d DB) check(found *problems) {
	const supported = "use file:/path/to/guidon.db, or postgres://, mysql://, mariadb:// or cockroachdb:// with user:password@host:port/database"
	rest := d.Path()
	switch engine := EngineOf(d.URL); {
	case d.URL == "":
		found.key("db.url", "is required, because no directory for the default is known; "+supported)
	case engine == "":
		found.key("db.url", "must have a known scheme; "+supported)
	case d.Auth == AuthAWS && engine != EnginePostgres && engine != EngineMySQL:
		found.key("db.auth", "aws-iam requires PostgreSQL or MySQL")
	case redact.Check(d.URL) != nil:
		found.key("db.url", redact.Check(d.URL).Error())
	case engine != EngineSQLite:
		return
	case strings.Trim(rest, "/") == "":
		found.key("db.url", "contains no path; "+supported)
	case strings.Contains(rest, ":memory:") || strings.Contains(rest, "mode=memory"):
		found.key("db.url", "must not be an in-memory database; "+supported)
	}
}

// DatabaseParts are the keys of the parts of the URL.
var DatabaseParts = []string{"db.protocol", "db.host", "db.port", "db.name", "db.user", "db.password"}

// parts returns those of DatabaseParts that are set.
func (d DB) parts() (keys []string) {
	for i, set := range []bool{d.Protocol != "", d.Host != "", d.Port != 0, d.Name != "", d.User != "", d.Password != ""} {
		if set {
			keys = append(keys, DatabaseParts[i])
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
		d.URL = d.Combined()
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

// Combined returns the URL of the parts.
func (d DB) Combined() string {
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
