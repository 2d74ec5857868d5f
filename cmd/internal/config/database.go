package config

import (
	"strings"
	"time"

	"github.com/guidonhq/guidon/store/redact"
)

// DB says where the database is and how to keep connections to it.
type DB struct {
	URL              string        `key:"url" default:"" defaultText:"file:/var/opt/guidon/guidon.db where that folder exists, otherwise guidon/guidon.db in the user's configuration folder" url:"true" doc:"The database: file:/path/to/guidon.db for an SQLite file, which serves one server and is created, readable for the owner only, when it does not exist; or postgres://, mysql://, mariadb:// or cockroachdb:// followed by user:password@host:port/database, for any number of servers. The DSN forms of libpq (host=… dbname=…) and of Go's MySQL driver (user:password@tcp(host)/database) do as well."`
	Auth             string        `key:"auth" default:"password" options:"password aws-iam" fold:"true" doc:"How a database server knows the service. password: by what db.url says. aws-iam: by a token of AWS IAM, made for every new connection; for PostgreSQL and MySQL on Amazon RDS, over TLS."`
	MaxIdleConn      int           `key:"max_idle_conn" default:"0" min:"0" max:"10000" doc:"Idle connections that are kept; 0 lets the service choose."`
	MaxOpenConn      int           `key:"max_open_conn" default:"0" min:"0" max:"10000" doc:"Most connections open at once; 0 lets the service choose."`
	ConnMaxLifetime  time.Duration `key:"conn_max_lifetime" default:"0s" min:"0s" doc:"A connection is replaced at this age; 0s lets the service choose."`
	ConnMaxIdleTime  time.Duration `key:"conn_max_idle_time" default:"0s" min:"0s" doc:"A connection that was idle for this long is closed; 0s lets the service choose."`
	StatementTimeout time.Duration `key:"statement_timeout" default:"5s" min:"1ms" doc:"Longest time that a statement, and waiting for the turn to write, may take before the answer is 503. SQLite has a bound of its own. Commands that work on flags and segments in the database itself allow a minute at least."`
	ConnectTimeout   time.Duration `key:"connect_timeout" default:"10s" min:"1ms" doc:"Longest time that making one connection may take. SQLite has none."`
	StartTimeout     time.Duration `key:"start_timeout" default:"1m" min:"1ms" doc:"How long a server that starts, and guidon migrate up, try again while the database cannot be reached. SQLite is there or not."`
	MigrateOnStart   string        `key:"migrate_on_start" default:"auto" options:"auto true false" fold:"true" doc:"Whether a server applies pending schema steps when it starts; otherwise it refuses to start until guidon migrate up has. auto does so for an SQLite file only."`
}

// AuthAWS is db.auth with tokens of AWS IAM.
const AuthAWS = "aws-iam"

// The engines of databases.
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

// EngineOf returns the engine of the database that the URL, or DSN, names, and
// "" for a text that is neither.
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

// Shared tells whether other processes may write to the database at the same
// time.
func (d DB) Shared() bool { return EngineOf(d.URL) != EngineSQLite }

// Path returns the database file that the URL of an SQLite database names.
func (d DB) Path() string {
	_, path, _ := strings.Cut(d.URL, ":")
	return strings.TrimPrefix(path, "//")
}

// Migrates tells whether a server is to apply pending schema steps.
func (d DB) Migrates() bool {
	if d.MigrateOnStart == "auto" {
		return !d.Shared()
	}
	return d.MigrateOnStart == "true"
}

// check never quotes the URL, which may hold a password.
func (d DB) check(found *problems) {
	const supported = "use file:/path/to/guidon.db, or postgres://, mysql://, mariadb:// or cockroachdb:// with user:password@host:port/database"
	rest := d.Path()
	switch engine := EngineOf(d.URL); {
	case d.URL == "":
		found.key("db.url", "is required, since no folder for the default is known: "+supported)
	case engine == "":
		found.key("db.url", "has no known scheme; "+supported)
	case d.Auth == AuthAWS && engine != EnginePostgres && engine != EngineMySQL:
		found.key("db.auth", "aws-iam is for PostgreSQL and MySQL")
	case redact.Check(d.URL) != nil:
		found.key("db.url", redact.Check(d.URL).Error())
	case engine != EngineSQLite:
		return
	case strings.Trim(rest, "/") == "":
		found.key("db.url", "names no file; "+supported)
	case strings.Contains(rest, ":memory:") || strings.Contains(rest, "mode=memory"):
		found.key("db.url", "a database in memory forgets everything; "+supported)
	}
}
