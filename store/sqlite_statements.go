package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// Bounds of the statements that one connection keeps: those of ordinary writes,
// which are few and short; an import's differ with the number of rows.
const (
	maxCached       = 32
	maxCachedLength = 1 << 10
)

// cachingConnector makes connections that keep what they have prepared: parsing
// and planning takes SQLite about as long as executing does.
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
		return nil, fmt.Errorf("store: the driver's connection %T lacks a method", opened)
	}
	return &cachingConn{sqliteConn: conn, cache: map[string]*cachedStatement{}}, nil
}

// sqliteConn is what package sql uses of the driver's connection.
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

// sqliteStatement is what is used of the driver's statement.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachingConn is a connection that keeps statements.
type cachingConn struct {
	sqliteConn
	cache map[string]*cachedStatement
}

// cachedStatement is one that is used again. It is not interrupted when its
// context ends, since it waits for nobody, and since having a driver watch a
// context takes as long as a small statement itself.
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

// prepareCached returns the kept statement of the text, or nil for one that is better not
// kept: it may wait for another process, or its rows are being read, or there
// are enough.
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

// isCacheable tells whether the statement is one of those that make up a write, once
// the transaction has the lock on the file.
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

// cachedRows are rows of a kept statement.
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
