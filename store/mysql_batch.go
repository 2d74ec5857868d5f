package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// mysqlBatch sends all statements as one text, which MySQL runs one after the
// other up to the first that fails. It does not say which one that was, so the
// result never claims that the last one was not run.
func mysqlBatch(ctx context.Context, conn *sql.Conn, statements []statement) (batchResult, error) {
	last := len(statements) - 1
	end := 0 // behind the last query
	for i, s := range statements {
		if s.row != nil {
			end = i + 1
		}
	}
	switch {
	case last == 0 || !fitsMySQLPacket(statements):
		return oneByOne(ctx, conn, statements)
	case end == 0:
		return mysqlExecTogether(ctx, conn, statements)
	case end <= last && statements[last].count: // which is told of those behind queries only
		if result, err := mysqlQueryTogether(ctx, conn, statements[:end]); err != nil {
			return result, err
		}
		return mysqlBatch(ctx, conn, statements[end:])
	}
	return mysqlQueryTogether(ctx, conn, statements)
}

// oneByOne is a batch in as many round trips as there are statements.
func oneByOne(ctx context.Context, conn *sql.Conn, statements []statement) (result batchResult, err error) {
	for i, s := range statements {
		if s.row != nil {
			err = mysqlQuery(ctx, conn, s)
		} else {
			var done sql.Result
			if done, err = conn.ExecContext(ctx, s.query, s.args...); err == nil {
				result.changed, err = done.RowsAffected()
			}
		}
		if err != nil {
			result.lastSkipped = i < len(statements)-1 && mysqlNumber(err) != 0 && !mysqlIsLost(err)
			return result, err
		}
	}
	return result, nil
}

func mysqlQuery(ctx context.Context, conn *sql.Conn, s statement) error {
	rows, err := conn.QueryContext(ctx, s.query, s.args...)
	if err != nil {
		return err
	}
	err = s.row.read(rows)
	return errors.Join(err, rows.Close())
}

func mysqlExecTogether(ctx context.Context, conn *sql.Conn, statements []statement) (result batchResult, err error) {
	text, args := joinStatements(statements)
	done, err := conn.ExecContext(ctx, text, args...)
	if err != nil {
		return result, err
	}
	result.changed, err = done.RowsAffected() // of the last statement
	return result, err
}

// mysqlQueryTogether is for statements among which there are queries. The driver
// passes over the answers of those that are none.
func mysqlQueryTogether(ctx context.Context, conn *sql.Conn, statements []statement) (result batchResult, err error) {
	text, args := joinStatements(statements)
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	first := true
	for _, s := range statements {
		if s.row == nil {
			continue
		}
		if !first && !rows.NextResultSet() {
			return result, errors.Join(errFewerResults, rows.Err())
		}
		first = false
		if err := s.row.read(rows); err != nil {
			return result, err
		}
	}
	if rows.NextResultSet() { // which reads the answers of those behind the last query
		return result, errMoreResults
	}
	return result, rows.Err()
}

var (
	errFewerResults = errors.New("the database gave fewer answers than it was asked questions")
	errMoreResults  = errors.New("the database gave more answers than it was asked questions")
)

func joinStatements(statements []statement) (text string, args []any) {
	var b strings.Builder
	for i, s := range statements {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.query)
		args = append(args, s.args...)
	}
	return b.String(), args
}

// fitsMySQLPacket tells whether the driver can write the arguments of all
// statements into one text, in which a character may take two.
func fitsMySQLPacket(statements []statement) bool {
	size := 0
	for _, s := range statements {
		size += len(s.query) + 2
		for _, arg := range s.args {
			size += 32 // a number, or the quotes
			if text, ok := arg.(string); ok {
				size += 2 * len(text)
			}
		}
	}
	return size <= mysqlPacket
}
