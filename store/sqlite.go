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
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// sqliteDriver is the name of the driver of SQLite, modernc.org/sqlite, which is
// linked into the programs that import it: the engine is several MiB, of no use on
// AWS Lambda.
const sqliteDriver = "sqlite"

// The result codes of SQLite that matter (https://sqlite.org/rescode.html).
const (
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteReadOnly = 8
	sqliteIOErr    = 10
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
	// Immediate takes the write lock at once, and so never has to upgrade, which
	// fails without waiting.
	beginWrite: "BEGIN IMMEDIATE",
	beginRead:  "BEGIN DEFERRED",
	isUniqueViolation: func(err error) bool {
		code := sqliteCode(err)
		return code == sqliteConstraintPrimaryKey || code == sqliteConstraintUnique
	},
	mayRetry: func(err error) bool {
		primary := sqliteCode(err) & 0xff
		return primary == sqliteBusy || primary == sqliteLocked
	},
	isLost: func(error) bool { return false },
	unavailable: func(err error) string {
		switch sqliteCode(err) & 0xff {
		case sqliteBusy, sqliteLocked:
			return messageBusy
		case sqliteFull:
			return "the database's disk is full"
		case sqliteReadOnly:
			return "the database cannot be written to"
		case sqliteIOErr, sqliteCantOpen, sqliteNoLFS:
			return "the database cannot be reached"
		}
		return ""
	},
}

// sqliteCode returns the extended result code, or 0.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[sqliteError](err); ok {
		return e.Code()
	}
	return 0
}

// sqliteError is what the driver's errors are.
type sqliteError interface {
	error
	Code() int
}

// openSQLite opens two pools on one file. All writes go through a single
// connection: SQLite lets one transaction write at a time anyway, and waiting
// for the connection is a fair queue that ends with its context, where waiting
// for the file is polling in which the newcomer may win for ever. Readers have
// connections of their own, which in WAL mode never wait for the writer.
func openSQLite(ctx context.Context, path string, options Options) (*DB, error) {
	if !slices.Contains(sql.Drivers(), sqliteDriver) {
		return nil, errors.New("this program is built without SQLite; use postgres://…, cockroachdb://… or mysql://…")
	}
	path, err := sqlitePath(path)
	if err != nil {
		return nil, err
	}
	if err := createPrivately(path); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	d := &DB{dialect: sqliteDialect, path: path, patience: patience, statementTimeout: options.StatementTimeout}
	if d.reader, err = sql.Open(sqliteDriver, sqliteReaderDSN(path)); err != nil {
		return nil, fmt.Errorf("open the database %q: %w", path, err)
	}
	d.writer = sql.OpenDB(&keepingConnector{driver: d.reader.Driver(), dsn: sqliteWriterDSN(path)})
	d.writer.SetMaxOpenConns(1)
	d.writer.SetMaxIdleConns(1)
	options.MaxOpenConns = cmp.Or(options.MaxOpenConns, max(4, 2*runtime.GOMAXPROCS(0)))
	options.tune(d.reader, options.MaxOpenConns)
	// The writer first: it puts a new file into WAL mode.
	for _, pool := range []*sql.DB{d.writer, d.reader} {
		var ignored int64
		if err := pool.QueryRowContext(ctx, d.dialect.ping).Scan(&ignored); err != nil {
			_ = d.Close()
			return nil, openError(path, err)
		}
	}
	return d, nil
}

func openError(path string, err error) error {
	if sqliteCode(err)&0xff == sqliteNotADB {
		return fmt.Errorf("open the database: %q is not an SQLite database", path)
	}
	return fmt.Errorf("open the database %q: %w", path, err)
}

// The pragmas are in the DSN, so that every pooled connection has them.
//
//   - busy_timeout: other processes (the CLI, a backup) may write too.
//   - journal_mode WAL: readers and the writer do not wait for each other.
//   - synchronous FULL: a commit is on the disk before it is acknowledged; WAL's
//     usual NORMAL could lose the last ones in a power cut.
//   - journal_size_limit: one large import does not leave a large log for ever.
//   - _txlock immediate: the schema steps, whose transactions are begun by their
//     own runner, take the write lock when they begin, too.
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

var sqliteParameters = regexp.MustCompile(`\?[A-Za-z_]+=`)

// sqlitePath returns the absolute path that the rest of a URL names.
func sqlitePath(rest string) (string, error) {
	path := strings.TrimPrefix(rest, "//")
	switch {
	case path == "":
		return "", errors.New("the database URL names no file: use sqlite:path")
	case strings.Contains(path, ":memory:"), strings.Contains(path, "mode=memory"):
		return "", errors.New("a database in memory is not supported: name a file")
	case sqliteParameters.MatchString(path):
		return "", errors.New("parameters in the database URL are not supported for SQLite: name only the file")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the database URL contains a NUL character")
	}
	return filepath.Abs(path)
}

// createPrivately makes sure that the file exists, readable for its owner only;
// SQLite gives its side files the same mode. A file that exists is not touched,
// since closing it would drop the locks of other connections in this process.
func createPrivately(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator's own choice
	if errors.Is(err, os.ErrExist) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%q is a folder", path)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
