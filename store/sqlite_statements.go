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
	maxKept       = 32
	maxKeptLength = 1 << 10
)

// keepingConnector makes connections that keep what they have prepared: parsing
// and planning takes SQLite about as long as executing does.
type keepingConnector struct{ fileConnector }

// Connect implements [driver.Connector].
func (c *keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.fileConnector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		_ = opened.Close()
		return nil, fmt.Errorf("store: the driver's connection %T lacks a method", opened)
	}
	return &keepingConn{sqliteConn: conn, kept: map[string]*keptStatement{}}, nil
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

// keepingConn is a connection that keeps statements.
type keepingConn struct {
	sqliteConn
	kept map[string]*keptStatement
}

// keptStatement is one that is used again. It is not interrupted when its
// context ends, since it waits for nobody, and since having a driver watch a
// context takes as long as a small statement itself.
type keptStatement struct {
	statement sqliteStatement
	reading   bool // its rows are not closed yet
}

// ExecContext implements [driver.ExecerContext].
func (c *keepingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	kept, err := c.keep(ctx, query)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return kept.statement.ExecContext(context.WithoutCancel(ctx), args)
}

// QueryContext implements [driver.QueryerContext].
func (c *keepingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	kept, err := c.keep(ctx, query)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := kept.statement.QueryContext(context.WithoutCancel(ctx), args)
	if err != nil {
		return nil, err
	}
	kept.reading = true
	return &keptRows{Rows: rows, statement: kept}, nil
}

// keep returns the kept statement of the text, or nil for one that is better not
// kept: it may wait for another process, or its rows are being read, or there
// are enough.
func (c *keepingConn) keep(ctx context.Context, query string) (*keptStatement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if kept := c.kept[query]; kept != nil {
		if kept.reading {
			return nil, nil
		}
		return kept, nil
	}
	if len(c.kept) == maxKept || len(query) > maxKeptLength || !isShort(query) {
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
	kept := &keptStatement{statement: statement}
	c.kept[query] = kept
	return kept, nil
}

// isShort tells whether the statement is one of those that make up a write, once
// the transaction has the lock on the file.
func isShort(query string) bool {
	verb, _, _ := strings.Cut(query, " ")
	switch verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "COMMIT", "ROLLBACK", "SAVEPOINT":
		return true
	}
	return false
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	for _, kept := range c.kept {
		_ = kept.statement.Close()
	}
	return c.sqliteConn.Close()
}

// keptRows are rows of a kept statement.
type keptRows struct {
	driver.Rows
	statement *keptStatement
}

// Close implements [driver.Rows].
func (r *keptRows) Close() error {
	err := r.Rows.Close()
	r.statement.reading = false
	return err
}
