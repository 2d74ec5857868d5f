package config

import (
	"strings"
	"time"

	"github.com/guidonhq/guidon/store/redact"
)

// DB configures the connections to the database.
type DB struct {
	URL              string        `key:"url" default:"" defaultText:"file:/var/opt/guidon/guidon.db if that directory exists, otherwise guidon/guidon.db in the user's configuration directory" url:"true" doc:"The database: file:/path/to/guidon.db for an SQLite file, or postgres://, mysql://, mariadb:// or cockroachdb:// followed by user:password@host:port/database. CockroachDB is expected to work, not tested. An SQLite file is for one server; it is created, readable only by its owner, if it does not exist. The others are for any number of servers. DSNs of libpq (host=… dbname=…) and of Go's MySQL driver (user:password@tcp(host)/database) are accepted as well."`
	Protocol         string        `key:"protocol" options:"sqlite file postgres postgresql mysql mariadb cockroach cockroachdb" fold:"true" doc:"The kind of database, if it is described by its parts (db.protocol, db.host, db.port, db.name, db.user and db.password) instead of db.url. If db.url is set as well, the parts have no effect."`
	Host             string        `key:"host" doc:"Host name or IP address of the database server, or the directory of PostgreSQL's socket. Requires db.protocol."`
	Port             int           `key:"port" default:"0" min:"0" max:"65535" doc:"Port of the database server; 0 means the usual one."`
	Name             string        `key:"name" doc:"Name of the database; with an SQLite file, its path. Required with db.protocol."`
	User             string        `key:"user" doc:"User of the database."`
	Password         string        `key:"password" secret:"true" doc:"Password of the user, as it is, without any escaping. It is never shown."`
	Auth             string        `key:"auth" default:"password" options:"password aws-iam" fold:"true" doc:"How the service authenticates to a database server. password: with the password in db.url or db.password. aws-iam: with an AWS IAM token, created for every new connection; for PostgreSQL and MySQL on Amazon RDS, over TLS."`
	MaxIdleConn      int           `key:"max_idle_conn" default:"0" min:"0" max:"10000" doc:"Maximum number of idle connections; 0 lets the service choose."`
	MaxOpenConn      int           `key:"max_open_conn" default:"0" min:"0" max:"10000" doc:"Maximum number of open connections; 0 lets the service choose."`
	ConnMaxLifetime  time.Duration `key:"conn_max_lifetime" default:"0s" min:"0s" doc:"A connection is replaced at this age; 0s lets the service choose."`
	ConnMaxIdleTime  time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s" doc:"A connection that has been idle for this long is closed; 0s lets the service choose."`
	StatementTimeout time.Duration `key:"statement_timeout" default:"5s" min:"1ms" doc:"Longest time for a statement, and for waiting to write, before the response is 503. SQLite has its own limit. Commands that work on flags and segments directly in the database allow at least a minute."`
	ConnectTimeout   time.Duration `key:"connect_timeout" default:"10s" min:"1ms" doc:"Longest time to open one connection. It has no effect with SQLite."`
	StartTimeout     time.Duration `key:"start_timeout" default:"1m" min:"1ms" doc:"How long a starting server, and guidon migrate up, keep trying if the database cannot be reached. A wrong password, an unknown database and an untrusted certificate are errors at once. It has no effect with SQLite."`
	MigrateOnStart   string        `key:"migrate_on_start" default:"auto" options:"auto true false" fold:"true" doc:"Whether a server applies pending schema steps when it starts. Otherwise it refuses to start until guidon migrate up has applied them. auto means true for an SQLite file and false for a database server."`
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
