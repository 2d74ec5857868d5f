package store

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxPrepared bounds the statements that one connection keeps prepared: those of
// ordinary reads and writes, which are few, and the latest of the others, whose
// texts differ with the number of their rows or keys.
const maxPrepared = 64

// postgresConnector makes connections that keep their statements prepared, which
// nearly halves what a small statement costs the server, where the session that
// keeps them is the client's own. A pooler may hand each transaction another
// session: behind one nothing is prepared, and all still takes one round trip.
type postgresConnector struct {
	preparing driver.Connector
	plain     driver.Connector
	pooled    atomic.Bool // there is a pooler in between
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

// isDirect tells whether the process that greeted the client is the one that
// runs its statements. A pooler has to greet with a number of its own, since a
// client names it to cancel a statement, whichever session that has got.
func isDirect(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var process uint32
	err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&process)
	return process == conn.PgConn().PID(), err
}
