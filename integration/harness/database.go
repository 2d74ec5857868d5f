package harness

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

// DatabaseServer is a database server that the tests of a package share, so none may kill
// or freeze it; [OwnDatabase] starts one for a single test. It is started by the first test
// that needs it and stopped by [Run].
//
// It is the first that is available of the server whose URL is in the environment, a
// private process if the server is installed, and a container if Docker is running.
// TEST_DATABASES=containers excludes private processes.
type DatabaseServer struct {
	Name    string         // postgres, mariadb or mysql
	Private *dbtest.Server // nil if it is not a private process; set by Need

	variable  string // environment variable with the URL of a superuser
	process   func(ctx context.Context, settings ...string) (*dbtest.Server, error)
	container func(ctx context.Context) (url string, end func() error, err error)

	begin    sync.Once
	err      error  // why the server is not available
	url      string // of the superuser
	end      func() error
	mu       sync.Mutex // guards template
	template string     // the name of a migrated database
}

// Postgres is the PostgreSQL server of the tests.
var Postgres = &DatabaseServer{Name: "postgres", variable: "TEST_POSTGRES_URL", process: dbtest.Postgres, container: postgresContainer}

var (
	mariadbServer = &DatabaseServer{Name: "mariadb", variable: "TEST_MARIADB_URL", process: dbtest.MariaDB, container: mariadbContainer}
	mysqlServer   = &DatabaseServer{Name: "mysql", variable: "TEST_MYSQL_URL", container: mysqlContainer}

	databaseServers = []*DatabaseServer{Postgres, mariadbServer, mysqlServer}
)

// PrivateServers are the kinds of servers that can be private processes, for tests that
// kill or freeze one.
var PrivateServers = []*DatabaseServer{Postgres, mariadbServer}

// DurablePostgres is the PostgreSQL server of the benchmarks. It waits for the disk at
// every commit, as servers do by default.
var DurablePostgres = &DatabaseServer{
	Name: "postgres", variable: "TEST_POSTGRES_URL", container: postgresContainer,
	process: func(ctx context.Context, settings ...string) (*dbtest.Server, error) {
		return dbtest.Postgres(ctx, append(settings, "fsync=on", "full_page_writes=on", "synchronous_commit=on")...)
	},
}

var durableMariaDB = &DatabaseServer{
	Name: "mariadb", variable: "TEST_MARIADB_URL", container: mariadbContainer,
	process: func(ctx context.Context, flags ...string) (*dbtest.Server, error) {
		return dbtest.MariaDB(ctx, append(flags, "--innodb-flush-log-at-trx-commit=1")...)
	},
}

// DurableServers are the servers whose acknowledged writes survive a power failure, for
// benchmarks.
var DurableServers = []*DatabaseServer{DurablePostgres, durableMariaDB}

// EachDatabase runs the test once for every kind of database server, in a subtest.
func EachDatabase(t *testing.T, test func(t *testing.T, s *DatabaseServer)) {
	for _, s := range databaseServers {
		t.Run(s.Name, func(t *testing.T) {
			s.Need(t)
			test(t, s)
		})
	}
}

// AnyDatabase runs the test, which shows the same on any kind of database server, with
// PostgreSQL, or with FULL=1 like EachDatabase.
func AnyDatabase(t *testing.T, test func(t *testing.T, s *DatabaseServer)) {
	if Full() {
		EachDatabase(t, test)
		return
	}
	t.Run(Postgres.Name, func(t *testing.T) {
		Postgres.Need(t)
		test(t, Postgres)
	})
}

// endDatabases stops the servers that were started.
func endDatabases() error {
	var errs []error
	for _, s := range slices.Concat(databaseServers, DurableServers) {
		if s.end != nil {
			errs = append(errs, s.end())
		}
	}
	return errors.Join(errs...)
}

// Need starts the server if it does not run yet, or skips the test if it is not available.
func (s *DatabaseServer) Need(t testing.TB) {
	t.Helper()
	s.begin.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*Patience)
		defer cancel()
		s.err = s.start(ctx)
	})
	if s.err != nil {
		Skip(t, "no %s: %v", s.Name, s.err)
	}
}

func (s *DatabaseServer) start(ctx context.Context) error {
	if s.url = os.Getenv(s.variable); s.url != "" {
		return nil
	}
	absent := errors.New("set " + s.variable)
	if s.process != nil && os.Getenv("TEST_DATABASES") != "containers" {
		private, err := s.process(ctx)
		if err == nil {
			s.Private, s.url, s.end = private, private.URL, private.Close
			return nil
		}
		if !errors.Is(err, dbtest.ErrNotInstalled) {
			return err
		}
		absent = errors.Join(absent, err)
	}
	var err error
	s.url, s.end, err = s.container(ctx)
	if err != nil {
		return errors.Join(absent, err)
	}
	return nil
}

// Empty creates a database without tables and returns its URL. It is dropped at the end of
// the test.
func (s *DatabaseServer) Empty(t testing.TB) string {
	t.Helper()
	name := newName()
	s.administer(t, "CREATE DATABASE "+name)
	return s.dropAfter(t, name)
}

// Migrated creates a database with the current schema and returns its URL. It is dropped at
// the end of the test.
func (s *DatabaseServer) Migrated(t testing.TB) string {
	t.Helper()
	name, template := newName(), s.migratedTemplate(t)
	if s.IsPostgres() {
		s.administer(t, "CREATE DATABASE "+name+" TEMPLATE "+template)
		return s.dropAfter(t, name)
	}
	s.administer(t, "CREATE DATABASE "+name)
	u := s.dropAfter(t, name)
	mustSucceed(t, copyTables(t.Context(), u, template))
	return u
}

// copyTables copies the tables of another database of the same MySQL server.
func copyTables(ctx context.Context, target, source string) error {
	db, err := OpenSQL(target)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tables, err := tablesOf(ctx, db, source)
	if err != nil {
		return err
	}
	for _, table := range tables {
		from := source + "." + table
		_, err := db.ExecContext(ctx, "CREATE TABLE "+table+" LIKE "+from)
		if err == nil {
			_, err = db.ExecContext(ctx, "INSERT INTO "+table+" SELECT * FROM "+from) // #nosec G202 -- names of our own tables
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
	}
	return nil
}

func tablesOf(ctx context.Context, db *sql.DB, database string) (tables []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		tables = append(tables, name)
	}
	return tables, rows.Err()
}

// migratedTemplate returns the name of a database with the current schema. Copying it takes
// a fraction of the time of the schema steps.
func (s *DatabaseServer) migratedTemplate(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.template == "" {
		name := newName()
		s.administer(t, "CREATE DATABASE "+name)
		migrateUp(t, s.database(name))
		s.template = name
		end := s.end
		s.end = func() error { // a server that outlives the tests must not keep the template
			err := administer(context.Background(), s.url, "DROP DATABASE "+name)
			if end != nil {
				err = errors.Join(err, end())
			}
			return err
		}
	}
	return s.template
}

// IsPostgres reports whether the server is PostgreSQL, or speaks its protocol. The server
// must have been started.
func (s *DatabaseServer) IsPostgres() bool { return strings.HasPrefix(s.url, "postgres") }

func (s *DatabaseServer) dropAfter(t testing.TB, name string) string {
	drop := "DROP DATABASE " + name
	if s.IsPostgres() {
		drop += " WITH (FORCE)" // a killed process or a pooler may still hold connections
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := administer(ctx, s.url, drop); err != nil {
			t.Error(err)
		}
	})
	return s.database(name)
}

// database returns the URL of the database with the name.
func (s *DatabaseServer) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		panic(err) // a connection has been opened with this URL
	}
	u.Path = "/" + name
	return u.String()
}

// newName returns a unique name for a database.
func newName() string { return "guidon_test_" + strings.ToLower(rand.Text()) }

// administer runs the statement on the server as its superuser.
func (s *DatabaseServer) administer(t testing.TB, statement string) {
	t.Helper()
	mustSucceed(t, administer(t.Context(), s.url, statement))
}

func administer(ctx context.Context, server, statement string) error {
	db, err := OpenSQL(server)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	if err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return errors.Join(err, db.Close())
}

// OpenSQL opens the database at the URL without the store. The caller must close it.
func OpenSQL(database string) (*sql.DB, error) {
	if strings.HasPrefix(database, "postgres") {
		return sql.Open("pgx", database)
	}
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = u.User.Username(), "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	return sql.Open("mysql", c.FormatDSN())
}

// OpenStore opens the database at the URL. It is closed at the end of the test.
func OpenStore(t testing.TB, database string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), database, store.Options{})
	mustSucceed(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Execute runs a statement that must succeed.
func Execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TimeOf returns the time of a revision of the default namespace.
func TimeOf(t testing.TB, db *store.DB, revision int64) time.Time {
	t.Helper()
	records, err := db.Changes(t.Context(), change.Query{Namespace: "default", After: change.After(revision - 1), Limit: 1})
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	return records[0].At
}

// migrateUp migrates the database to the current schema.
func migrateUp(t testing.TB, database string) {
	t.Helper()
	db := OpenStore(t, database)
	_, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	mustSucceed(t, errors.Join(err, db.Close())) // a template must have no connections
}

// SQLiteURL returns the URL of an SQLite file that does not exist yet.
func SQLiteURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "guidon.db") }

// OutcomeUnknown is contained in the error of a write whose outcome is unknown.
const OutcomeUnknown = "the outcome of the write is unknown"
