package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// Limits of the statement cache of one connection. It is for the statements of
// ordinary writes, which are few and short. Those of an import differ with the number
// of rows.
const (
	maxCached       = 32
	maxCachedLength = 1 << 10
)

// cachingConnector makes connections that cache prepared statements: SQLite takes
// about as long to parse and plan a statement as to execute it.
type cachingConnector struct{ fileConnector }

// Connect implements [driver.Connector].
func (c *cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.fileConnector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		_ = opened.Close()
		return nil, fmt.Errorf("store: the driver's connection %T lacks a required method", opened)
	}
	return &cachingConn{sqliteConn: conn, cache: map[string]*cachedStatement{}}, nil
}

// sqliteConn has the methods of the driver's connection that database/sql uses.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// sqliteStatement has the methods of the driver's statement that are used here.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachingConn is a connection that caches prepared statements.
type cachingConn struct {
	sqliteConn
	cache map[string]*cachedStatement
}

// cachedStatement is a prepared statement that is reused. It is not interrupted when
// its context ends: it does not wait for anything, and watching a context would cost
// the driver as much as a small statement.
type cachedStatement struct {
	statement sqliteStatement
	reading   bool // its rows are not closed yet
}

// ExecContext implements [driver.ExecerContext].
func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	cached, err := c.prepareCached(ctx, query)
	if err != nil {
		return nil, err
	}
	if cached == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return cached.statement.ExecContext(context.WithoutCancel(ctx), args)
}

// QueryContext implements [driver.QueryerContext].
func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	cached, err := c.prepareCached(ctx, query)
	if err != nil {
		return nil, err
	}
	if cached == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := cached.statement.QueryContext(context.WithoutCancel(ctx), args)
	if err != nil {
		return nil, err
	}
	cached.reading = true
	return &cachedRows{Rows: rows, statement: cached}, nil
}

// prepareCached returns the cached statement of the query and prepares it if
// necessary. It returns nil if the query may wait for another process or is too long,
// if the rows of its statement are being read, or if the cache is full.
func (c *cachingConn) prepareCached(ctx context.Context, query string) (*cachedStatement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if cached := c.cache[query]; cached != nil {
		if cached.reading {
			return nil, nil
		}
		return cached, nil
	}
	if len(c.cache) == maxCached || len(query) > maxCachedLength || !isCacheable(query) {
		return nil, nil
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	statement, ok := prepared.(sqliteStatement)
	if !ok {
		return nil, prepared.Close()
	}
	cached := &cachedStatement{statement: statement}
	c.cache[query] = cached
	return cached, nil
}

// isCacheable reports whether the statement is one that a write transaction runs once
// it has the lock on the file.
func isCacheable(query string) bool {
	verb, _, _ := strings.Cut(query, " ")
	switch verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "COMMIT", "ROLLBACK", "SAVEPOINT":
		return true
	}
	return false
}

// Close implements [driver.Conn].
func (c *cachingConn) Close() error {
	for _, cached := range c.cache {
		_ = cached.statement.Close()
	}
	return c.sqliteConn.Close()
}

// cachedRows are the rows of a cached statement.
type cachedRows struct {
	driver.Rows
	statement *cachedStatement
}

// Close implements [driver.Rows].
func (r *cachedRows) Close() error {
	err := r.Rows.Close()
	r.statement.reading = false
	return err
}
