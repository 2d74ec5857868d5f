package store

import (
	"strings"

	"github.com/guidonhq/guidon"
)

// Conditions on the position of a record. Each compares the position as a whole and, again,
// column by column: PostgreSQL and SQLite find the records in an index by the former, MySQL
// and MariaDB by the latter. Without it, they would read all records of the revision, of
// which an import makes many.
var (
	afterPosition  = comparePosition(">")
	beforePosition = comparePosition("<")
	inRange        = comparePosition(">=") + " AND " + comparePosition("<=")
)

func comparePosition(operator string) string { return compareColumns(operator, "revision", "seq") }

// compareColumns returns the comparison of columns, as a whole and again one by one.
func compareColumns(operator string, columns ...string) string {
	last := len(columns) - 1
	each := columns[last] + " " + operator + " ?"
	for i := last - 1; i >= 0; i-- {
		each = columns[i] + " " + operator[:1] + " ? OR " + columns[i] + " = ? AND " + each
		if i > 0 {
			each = "(" + each + ")"
		}
	}
	return "(" + strings.Join(columns, ", ") + ") " + operator + " (?" + strings.Repeat(", ?", last) + ") AND (" + each + ")"
}

// positionArgs returns the arguments of a comparison.
func positionArgs(p guidon.Position) []any { return compareArgs(p.Revision, p.Sequence) }

// compareArgs returns the arguments of compareColumns.
func compareArgs(values ...any) []any {
	args := values[:len(values):len(values)]
	for _, v := range values[:len(values)-1] {
		args = append(args, v, v)
	}
	return append(args, values[len(values)-1])
}

// positionRange is the range of positions from the first through the last.
type positionRange struct{ first, last guidon.Position }

// args returns the arguments of inRange.
func (r positionRange) args() []any { return append(positionArgs(r.first), positionArgs(r.last)...) }
