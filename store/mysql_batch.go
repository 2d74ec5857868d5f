package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// mysqlBatch sends the statements as one string, which MySQL runs up to the first
// statement that fails. MySQL does not report which one that was, so the result then
// does not claim that the last one was skipped.
func mysqlBatch(ctx context.Context, conn *sql.Conn, statements []statement) (batchResult, error) {
	last := len(statements) - 1
	end := 0 // index after the last query
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
	case end <= last && statements[last].count: // counts are available only without queries
		if result, err := mysqlQueryTogether(ctx, conn, statements[:end]); err != nil {
			return result, err
		}
		return mysqlBatch(ctx, conn, statements[end:])
	}
	return mysqlQueryTogether(ctx, conn, statements)
}

// oneByOne runs a batch with one round trip for each statement.
func oneByOne(ctx context.Context, conn *sql.Conn, statements []statement) (result batchResult, err error) {
	for i, s := range statements {
		if result.changed, err = s.run(ctx, conn); err != nil {
			result.lastSkipped = i < len(statements)-1 && mysqlNumber(err) != 0 && !mysqlFailure(err).lost
			return result, err
		}
	}
	return result, nil
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

// mysqlQueryTogether runs statements that include queries. The driver skips the
// results of the others.
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
	if rows.NextResultSet() { // reads the results of the statements after the last query
		return result, errMoreResults
	}
	return result, rows.Err()
}

var (
	errFewerResults = errors.New("the database returned fewer results than there were queries")
	errMoreResults  = errors.New("the database returned more results than there were queries")
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

// fitsMySQLPacket reports whether the driver can interpolate the arguments of all
// statements into one string, in which escaping may double a character.
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
