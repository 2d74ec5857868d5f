package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// sqliteDriver is the name of the SQLite driver, modernc.org/sqlite. Only programs
// that import it contain the engine, which takes several MiB and is of no use on AWS
// Lambda.
const sqliteDriver = "sqlite"

// Result codes of SQLite (https://sqlite.org/rescode.html).
const (
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteNoLFS    = 22
	sqliteNotADB   = 26

	sqliteConstraintPrimaryKey = 1555
	sqliteConstraintUnique     = 2067
)

var sqliteDialect = &dialect{
	name: "sqlite",
	ping: "PRAGMA schema_version",
	// IMMEDIATE takes the write lock at the start. An upgrade to it later may fail
	// without waiting.
	beginWrite: "BEGIN IMMEDIATE",
	beginRead:  "BEGIN DEFERRED",
	failure: func(err error) failure {
		code := sqliteCode(err)
		if f, found := sqliteFailures[code]; found {
			return f
		}
		return sqliteFailures[code&0xff]
	},
}

// sqliteFailures are the failures by the result code, or by its low byte, which is its class.
var sqliteFailures = map[int]failure{
	sqliteConstraintPrimaryKey: uniqueFailure, sqliteConstraintUnique: uniqueFailure,
	sqliteBusy: busyFailure, sqliteLocked: busyFailure,
	sqliteFull:     fullFailure,
	sqliteReadOnly: readOnlyFailure,
	sqliteIOErr:    closedFailure, sqliteCantOpen: closedFailure, sqliteNoLFS: closedFailure,
	sqliteCorrupt: damagedFailure, sqliteNotADB: damagedFailure,
}

var damagedFailure = failure{message: "the database file is damaged"}

// sqliteCode returns the extended result code of err, or 0 if it has none.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[sqliteError](err); ok {
		return e.Code()
	}
	return 0
}

// sqliteError is implemented by the errors of the driver.
type sqliteError interface {
	error
	Code() int
}

var errNoSQLite = errors.New("this program is built without SQLite support; use postgres://…, cockroachdb://… or mysql://…")

// openSQLite opens two pools on one file. All writes use a single connection, because
// SQLite allows one write transaction at a time anyway. Waiting for the connection is
// a fair queue that ends with the context. Waiting for the file would be polling, in
// which newcomers may win forever. Readers have connections of their own, which
// never wait for the writer in WAL mode.
func openSQLite(ctx context.Context, path string, options Options) (*DB, error) {
	if !slices.Contains(sql.Drivers(), sqliteDriver) {
		return nil, errNoSQLite
	}
	path, err := sqlitePath(path)
	if err != nil {
		return nil, err
	}
	file, err := openSQLiteFile(path, options.Exclusive)
	if err != nil {
		return nil, err
	}
	d, err := newSQLiteDB(file, options)
	if err != nil {
		return nil, errors.Join(openError(path, err), file.release())
	}
	err = d.firstUse(ctx)
	if err == nil {
		err = file.lockLog()
	}
	if err != nil {
		_ = d.Close()
		return nil, openError(path, err)
	}
	return d, nil
}

// newSQLiteDB returns a DB with two pools. It does not connect.
func newSQLiteDB(file *sqliteFile, options Options) (*DB, error) {
	known, err := sql.Open(sqliteDriver, "") // the only way to get a driver from database/sql
	if err != nil {
		return nil, err
	}
	defer known.Close()
	d := &DB{
		dialect: sqliteDialect, path: file.path, file: file, patience: patience, statementTimeout: options.StatementTimeout, trace: options.Trace,
	}
	d.reader = sql.OpenDB(&fileConnector{driver: known.Driver(), dsn: sqliteReaderDSN(file.path), file: file})
	d.writer = sql.OpenDB(&cachingConnector{fileConnector{driver: known.Driver(), dsn: sqliteWriterDSN(file.path), file: file}})
	d.writer.SetMaxOpenConns(1)
	d.writer.SetMaxIdleConns(1)
	options.MaxOpenConns = cmp.Or(options.MaxOpenConns, max(4, 2*runtime.GOMAXPROCS(0)))
	options.tune(d.reader, options.MaxOpenConns)
	return d, nil
}

// firstUse connects both pools. The reader comes first, because the writer changes
// the file to WAL mode.
func (d *DB) firstUse(ctx context.Context) error {
	if err := d.rejectForeign(ctx); err != nil {
		return err
	}
	for _, pool := range []*sql.DB{d.writer, d.reader} {
		var ignored int64
		if err := pool.QueryRowContext(ctx, d.dialect.ping).Scan(&ignored); err != nil {
			return err
		}
	}
	if d.file.lock == nil {
		return nil
	}
	return d.checkDamage(ctx)
}

// maxChecked is the size up to which a file is checked for damage before it is used,
// which takes about 15 ms per MiB. Damage in a larger file is found when it is read.
const maxChecked = 4 << 20

// checkDamage returns an error if the file is small and damaged.
func (d *DB) checkDamage(ctx context.Context) error {
	info, err := os.Stat(d.path)
	if err != nil || info.Size() > maxChecked {
		return err
	}
	var verdict string
	if err := d.reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		_, where, _ := strings.Cut(verdict, "\n") // the first line is a heading
		return fmt.Errorf("the file is damaged (%s); restore a backup", strings.TrimSpace(where))
	}
	return nil
}

// closeTimeout limits the work before the connections are closed.
const closeTimeout = 5 * time.Second

// checkpointLog moves the content of the write-ahead log into a file that was
// replaced. That file is then complete, wherever it was moved. None of the content
// gets into the new file, whose log has the same path. SQLite does not do so by
// itself.
func (d *DB) checkpointLog() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, err := d.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil && !isClosed(err) {
		return err
	}
	return nil
}

// versionTable is the first table that package migrate creates.
const versionTable = "schema_steps"

// rejectForeign returns an error if the file is the database of another program.
func (d *DB) rejectForeign(ctx context.Context) error {
	var foreign string
	err := d.reader.QueryRowContext(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '`+versionTable+`') LIMIT 1`).Scan(&foreign)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return guidon.Errorf(guidon.FailedPrecondition,
		"it is the database of another program, with a table %q; name another file", foreign)
}

// The pragmas are in the DSN, so that every pooled connection has them.
//
//   - busy_timeout: other processes (the CLI, a backup) may write too.
//   - journal_mode WAL: readers and the writer do not wait for each other.
//   - synchronous FULL: a commit is on the disk before it is acknowledged. NORMAL,
//     which is usual with WAL, could lose the last commits in a power failure.
//   - journal_size_limit: one large import does not leave a large log forever.
//   - _txlock immediate: the schema steps, whose runner begins transactions itself,
//     also take the write lock when they begin.
func sqliteWriterDSN(path string) string {
	return sqliteDSN(path, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(67108864)"},
	})
}

func sqliteReaderDSN(path string) string {
	return sqliteDSN(path, url.Values{
		"_txlock": {"deferred"},
		"_pragma": {"busy_timeout(5000)", "query_only(1)"},
	})
}

func sqliteDSN(path string, parameters url.Values) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: parameters.Encode()}
	return u.String()
}
