package store

import "github.com/guidonhq/guidon"

// Conditions on the position of a record. Each compares the position as a whole and, again,
// column by column: PostgreSQL and SQLite find the records in an index by the former, MySQL
// and MariaDB by the latter. Without it, they would read all records of the revision, of
// which an import makes many.
var (
	afterPosition  = comparePosition(">")
	beforePosition = comparePosition("<")
	inRange        = comparePosition(">=") + " AND " + comparePosition("<=")
)

func comparePosition(operator string) string {
	return "(revision, seq) " + operator + " (?, ?) AND (revision " + operator[:1] + " ? OR revision = ? AND seq " + operator + " ?)"
}

// positionArgs returns the arguments of a comparison.
func positionArgs(p guidon.Position) []any {
	return []any{p.Revision, p.Sequence, p.Revision, p.Revision, p.Sequence}
}

// positionRange is the range of positions from the first through the last.
type positionRange struct{ first, last guidon.Position }

// args returns the arguments of inRange.
func (r positionRange) args() []any { return append(positionArgs(r.first), positionArgs(r.last)...) }
