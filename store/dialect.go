package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/guidonhq/guidon"
)

// dialect holds the differences between databases. Queries are written so that no
// other differences arise.
type dialect struct {
	name string
	ping string // a query that returns one number and reads the database itself

	// shared is set if other processes may write to the database.
	shared bool

	// beginWrite begins a transaction in which each statement sees what was committed
	// before it began. The first statement waits for the lock on the namespace, and
	// those after it must see what the last holder wrote. A database that is always
	// serializable ensures this by reporting a conflict.
	beginWrite string
	// beginRead begins a transaction that sees one state of the database
	// throughout and cannot write.
	beginRead string

	// prepare is a statement that is sent with the one that begins a transaction, or "". It
	// makes the planner find rows in their order by an index: without statistics it would
	// rather read all rows of a namespace and sort them. Its argument is the abandonment limit
	// of the transaction in milliseconds.
	prepare string

	// batch runs statements in as few round trips as possible and fills the rows of
	// the queries among them. If a statement fails, those after it are not run. It is
	// nil if there is nothing to gain.
	batch func(ctx context.Context, conn *sql.Conn, statements []statement) (batchResult, error)

	// batchReads is set if read transactions use batches too.
	batchReads bool

	// unions is set if several queries with limits can be sent as one, with UNION ALL, and
	// there is no better way to save round trips.
	unions bool

	// analyze is the statement of [DB.Analyze], or "" if there is nothing to gain.
	analyze string

	// interrupt returns a function that makes the current or next operation of the
	// connection fail immediately. It may be called at any time, and the connection
	// must be closed afterwards. interrupt is nil if only a context can do that.
	interrupt func(driverConn any) func()

	// rebind replaces the ? placeholders by the database's own. nil leaves them.
	rebind func(query string) string

	// failure returns what an error of the driver means. It is the zero failure if that is not known.
	failure func(err error) failure
}

// batchResult is the outcome of a batch.
type batchResult struct {
	changed int64 // rows that the last statement changed, unless it is a query
	// lastSkipped is set if the server is known to have rejected an earlier statement,
	// and so not to have run the last one.
	lastSkipped bool
}

// failure is what an error of a database means.
type failure struct {
	message string // for callers, if the database is to blame, otherwise ""
	unique  bool   // a primary key or unique index is violated
	// retry is set if the transaction that got the error was rolled back as a whole, or never
	// began, and may succeed if it is run again.
	retry bool
	// lost is set if the server ends the connection by the error. The running statement then
	// had no effect, except that a COMMIT may have.
	lost    bool
	refused bool // the server refuses the connection for a reason that does not go away by itself
}

// Failures that several databases have.
var (
	uniqueFailure   = failure{unique: true}
	busyFailure     = failure{message: messageBusy, retry: true}
	lostFailure     = failure{lost: true}
	refusedFailure  = failure{message: messageRejects, refused: true}
	closedFailure   = failure{message: messageClosed}
	slowFailure     = failure{message: messageSlow}
	fullFailure     = failure{message: "the database's disk is full"}
	readOnlyFailure = failure{message: "the database cannot be written to"}
)

func (d *dialect) query(q string) string {
	if d.rebind == nil {
		return q
	}
	return d.rebind(q)
}

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}

// errNoSeed means that a row inserted by the schema migrations was removed.
var errNoSeed = errors.New("store: a row of the initial schema is missing; the schema is incomplete")
