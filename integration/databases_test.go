package integration

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

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/integration/dbproc"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

// databaseServer is a database server that the tests of this package share, so none may
// kill or freeze it. It is started by the first test that needs it and stopped at the end
// of the package.
//
// It is the first that is available of the server whose URL is in the environment, a
// private process if the server is installed, and a container if Docker is running.
// TEST_DATABASES=containers excludes private processes.
type databaseServer struct {
	name      string
	variable  string // environment variable with the URL of a superuser
	process   func(ctx context.Context, settings ...string) (*dbproc.Server, error)
	container func(ctx context.Context) (url string, end func() error, err error)

	begin    sync.Once
	err      error          // why the server is not available
	url      string         // of the superuser
	private  *dbproc.Server // nil if it is not a private process
	end      func() error
	mu       sync.Mutex // guards template
	template string     // PostgreSQL: the name of a migrated database
}

var (
	postgresServer = &databaseServer{name: "postgres", variable: "TEST_POSTGRES_URL", process: dbproc.Postgres, container: postgresContainer}
	mariadbServer  = &databaseServer{name: "mariadb", variable: "TEST_MARIADB_URL", process: dbproc.MariaDB, container: mariadbContainer}
	mysqlServer    = &databaseServer{name: "mysql", variable: "TEST_MYSQL_URL", container: mysqlContainer}

	databaseServers = []*databaseServer{postgresServer, mariadbServer, mysqlServer}

	// The servers of the benchmarks wait for the disk at every commit, as servers do by
	// default.
	durablePostgres = &databaseServer{
		name: "postgres", variable: "TEST_POSTGRES_URL", container: postgresContainer,
		process: func(ctx context.Context, settings ...string) (*dbproc.Server, error) {
			return dbproc.Postgres(ctx, append(settings, "fsync=on", "full_page_writes=on", "synchronous_commit=on")...)
		},
	}
	durableMariaDB = &databaseServer{
		name: "mariadb", variable: "TEST_MARIADB_URL", container: mariadbContainer,
		process: func(ctx context.Context, flags ...string) (*dbproc.Server, error) {
			return dbproc.MariaDB(ctx, append(flags, "--innodb-flush-log-at-trx-commit=1")...)
		},
	}

	// privateServers are those that can be private processes of a test; see ownDatabase.
	privateServers = []*databaseServer{postgresServer, mariadbServer}

	durableServers = []*databaseServer{durablePostgres, durableMariaDB}
)

// eachDatabase runs the test once for every kind of shared database.
func eachDatabase(t *testing.T, test func(t *testing.T, s *databaseServer)) {
	for _, s := range databaseServers {
		t.Run(s.name, func(t *testing.T) {
			s.need(t)
			test(t, s)
		})
	}
}

// endDatabases stops the servers that were started.
func endDatabases() error {
	var errs []error
	for _, s := range slices.Concat(databaseServers, durableServers) {
		if s.end != nil {
			errs = append(errs, s.end())
		}
	}
	return errors.Join(errs...)
}

// need starts the server if it does not run yet, or skips the test if it is not available.
func (s *databaseServer) need(t testing.TB) {
	t.Helper()
	s.begin.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		s.err = s.start(ctx)
	})
	if s.err != nil {
		skip(t, "no %s: %v", s.name, s.err)
	}
}

func (s *databaseServer) start(ctx context.Context) error {
	if s.url = os.Getenv(s.variable); s.url != "" {
		return nil
	}
	absent := errors.New("set " + s.variable)
	if s.process != nil && os.Getenv("TEST_DATABASES") != "containers" {
		private, err := s.process(ctx)
		if err == nil {
			s.private, s.url, s.end = private, private.URL, private.Close
			return nil
		}
		if !errors.Is(err, dbproc.ErrNotInstalled) {
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

// empty creates a database without tables and returns its URL. It is dropped at the end of
// the test.
func (s *databaseServer) empty(t testing.TB) string {
	t.Helper()
	name := newName()
	s.administer(t, "CREATE DATABASE "+name)
	return s.dropAfter(t, name)
}

// migrated creates a database with the current schema and returns its URL. It is dropped at
// the end of the test.
func (s *databaseServer) migrated(t testing.TB) string {
	t.Helper()
	if !s.isPostgres() {
		u := s.empty(t)
		migrateUp(t, u)
		return u
	}
	name := newName()
	s.administer(t, "CREATE DATABASE "+name+" TEMPLATE "+s.migratedTemplate(t))
	return s.dropAfter(t, name)
}

// migratedTemplate returns the name of a database with the current schema. Copying it takes
// a fraction of the time of the schema steps.
func (s *databaseServer) migratedTemplate(t testing.TB) string {
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

func (s *databaseServer) isPostgres() bool { return strings.HasPrefix(s.url, "postgres") }

func (s *databaseServer) dropAfter(t testing.TB, name string) string {
	drop := "DROP DATABASE " + name
	if s.isPostgres() {
		drop += " WITH (FORCE)" // a killed process or a pooler may still hold connections
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := administer(ctx, s.url, drop); err != nil {
			t.Error(err)
		}
	})
	return s.database(name)
}

// database returns the URL of the database with the name.
func (s *databaseServer) database(name string) string { return withDatabase(s.url, name) }

func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // a connection has been opened with this URL
	}
	u.Path = "/" + name
	return u.String()
}

// newName returns a unique name for a database.
func newName() string { return "guidon_test_" + strings.ToLower(rand.Text()) }

// administer runs the statement on the server as its superuser.
func (s *databaseServer) administer(t testing.TB, statement string) {
	t.Helper()
	if err := administer(t.Context(), s.url, statement); err != nil {
		t.Fatal(err)
	}
}

func administer(ctx context.Context, server, statement string) error {
	db, err := openSQL(server)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	if err != nil {
		err = fmt.Errorf("%s: %w", statement, err)
	}
	return errors.Join(err, db.Close())
}

// openSQL opens the database without the store.
func openSQL(database string) (*sql.DB, error) {
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

// openStore opens the database. It is closed at the end of the test.
func openStore(t testing.TB, database string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// migrateUp migrates the database to the current schema.
func migrateUp(t testing.TB, database string) {
	t.Helper()
	db, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
}

// sqliteURL returns the URL of a new SQLite file.
func sqliteURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "guidon.db") }

// outcomeUnknown is in the error for a write with an unknown outcome.
const outcomeUnknown = "the outcome of the write is unknown"
