package config

import (
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
