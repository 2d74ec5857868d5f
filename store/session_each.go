package store

import (
	"context"
	"slices"
	"strings"
)

// maxArms limits the queries that are sent as one statement.
const maxArms = 50

// rowsOfEach runs a query for each list of arguments. It scans the rows of all of them into
// the destinations, in any order, and calls each for every row. A condition with a list
// would be shorter, but for that a planner without statistics, as after an import, may read
// the whole namespace.
//
// The query must end with an order that only the right index has, and a limit. The same
// planner may otherwise take another index that has the same first column.
func (s *session) rowsOfEach(ctx context.Context, query string, lists [][]any, each func(), dest ...any) error {
	arms := 1
	if s.db.dialect.unions {
		arms = maxArms
	}
	for some := range slices.Chunk(lists, arms) {
		all := query
		if len(some) > 1 {
			all = "(" + query + ")" + strings.Repeat(" UNION ALL ("+query+")", len(some)-1)
		}
		if _, err := s.rowsLater(ctx, all, slices.Concat(some...), each, dest...); err != nil {
			return err
		}
	}
	return s.flush(ctx)
}
