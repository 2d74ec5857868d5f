package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/guidonhq/guidon"
)

// dialect is what differs between databases. Where a difference does not fit
// here, the query changes instead.
type dialect struct {
	name string
	ping string // a query that answers one number and touches the database itself

	// shared tells whether other processes may write to the database.
	shared bool

	// beginWrite begins a transaction whose statements see what was committed
	// before they began: the first one waits for the lock on the namespace, and
	// the ones after it must see what its last holder left. A database that is
	// serializable throughout sees to it in its own way, by a conflict.
	beginWrite string
	// beginRead begins a transaction that sees one state of the database
	// throughout and cannot write.
	beginRead string

	// batch runs statements in as few round trips as it can and fills the rows of
	// those that are queries; nil where there is nothing to gain. After one that
	// fails, those that follow are not run.
	batch func(ctx context.Context, conn *sql.Conn, statements []statement) (batchResult, error)

	// batchReads tells whether transactions that only read run batches, too.
	batchReads bool

	// interrupt returns what makes whatever the connection is doing, or does next,
	// fail at once, and may be called at any time; nil where only a context does
	// that. The connection is closed afterwards.
	interrupt func(driverConn any) func()

	// rebind turns ? placeholders into the database's own; nil leaves them.
	rebind func(query string) string

	// isUniqueViolation tells whether the error is a violated primary key or
	// unique index.
	isUniqueViolation func(err error) bool
	// mayRetry tells whether the transaction that met the error was rolled back
	// as a whole, or never began, and may succeed when run again.
	mayRetry func(err error) bool
	// isLost tells whether the server ended the connection, by an error of its
	// own words: whatever was under way did not happen, except that a COMMIT may
	// have.
	isLost func(err error) bool
	// unavailable returns what to tell a caller about an error for which the
	// database is to blame, or "".
	unavailable func(err error) string
}

// batchResult is what became of a batch.
type batchResult struct {
	changed int64 // rows that the last statement changed, if it is no query
	// lastSkipped means for certain that the server answered one before the last with
	// an error, and so did not run the last one.
	lastSkipped bool
}

func (d *dialect) query(q string) string {
	if d.rebind == nil {
		return q
	}
	return d.rebind(q)
}

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}

// errNoSeed means that someone removed a row that the schema came with.
var errNoSeed = errors.New("store: the database lacks its first row; the schema is incomplete")
