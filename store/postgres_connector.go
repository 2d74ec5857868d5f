package store

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxPrepared limits the prepared statements of one connection: the few of ordinary
// reads and writes, and the latest of the others, which differ with the number of
// rows or keys.
const maxPrepared = 64

// postgresConnector makes connections that keep their statements prepared, which
// nearly halves the server's cost of a small statement. This requires that the
// session is the client's own. A pooler may give each transaction another session, so
// nothing is prepared behind one. A statement still takes one round trip.
type postgresConnector struct {
	preparing driver.Connector
	plain     driver.Connector
	pooled    atomic.Bool // a pooler was found
}

func newPostgresConnector(config pgx.ConnConfig, each ...stdlib.OptionOpenDB) *postgresConnector {
	preparing, plain := config, config
	preparing.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	preparing.StatementCacheCapacity = maxPrepared
	plain.DefaultQueryExecMode = pgx.QueryExecModeExec
	return &postgresConnector{preparing: stdlib.GetConnector(preparing, each...), plain: stdlib.GetConnector(plain, each...)}
}

// Driver implements [driver.Connector].
func (c *postgresConnector) Driver() driver.Driver { return c.plain.Driver() }

// Connect implements [driver.Connector].
func (c *postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.pooled.Load() {
		return c.plain.Connect(ctx)
	}
	conn, err := c.preparing.Connect(ctx)
	if err != nil {
		return nil, err
	}
	direct, err := isDirect(ctx, conn.(*stdlib.Conn).Conn())
	if direct {
		return conn, nil
	}
	_ = conn.Close()
	if err != nil {
		return nil, err
	}
	c.pooled.Store(true)
	return c.plain.Connect(ctx)
}

// isDirect reports whether the process id that the server sent when the client
// connected is that of the process that runs its statements. A pooler must send an id
// of its own, because the client uses it to cancel a statement in whichever session
// that runs.
func isDirect(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var process uint32
	err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&process)
	return process == conn.PgConn().PID(), err
}
