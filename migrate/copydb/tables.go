package copydb

import (
	"database/sql"
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

type column struct {
	name    string
	integer bool // in every database; otherwise it is text
}

// table is a table whose rows are copied. The first keys columns are the primary key.
type table struct {
	name    string
	keys    int
	columns []column
}

// tables are the tables that are copied. The others belong to one database only: the
// applied schema steps, the migration lock, the leases, and the keys of attempts to sign in
// with those that were used: an attempt ends where it began.
var tables = []table{
	{"namespaces", 1, columns("namespace_key revision# stamp# deleted# created_seq# body")},
	{"flags", 2, columns("namespace_key flag_key created_rev# created_seq# changed_rev# body")},
	{"segments", 2, columns("namespace_key segment_key created_rev# created_seq# changed_rev# body")},
	{"changes", 3, columns("namespace_key revision# seq# stamp# kind object_key action actor actor_name actor_method" +
		" happened_at# request_id body_size# before_body after_body event")},
	{"authentications", 1, columns("id method# token_hash expires_at# created_rev# created_seq# body")},
	{"authentication_subjects", 1, columns("authentication_id subject_hash")},
	{"bindings", 1, columns("id created_rev# created_seq# body")},
	{"webhooks", 1, columns("id created_rev# created_seq# body private")},
	{"webhook_states", 2, columns("webhook_id namespace_key part# attempts# next_at# failing_since#")},
	{"webhook_deliveries", 2, columns("webhook_id delivery_seq# namespace_key revision# part# attempt# at# millis# status# error answer")},
	{"change_notes", 2, columns("namespace_key revision# message reason reason_body")},
	{"change_addresses", 2, columns("revision# seq# address")},
	{"change_deletions", 3, columns("namespace_key revision# seq# created_rev# created_seq#")},
	{"change_horizons", 1, columns("namespace_key revision# happened_at#")},
	{"change_readers", 1, columns("reader_name created_at#")},
	{"change_cursors", 2, columns("reader_name namespace_key revision# seq# stamp# updated_at#")},
	{"evaluation_minutes", 4, columns("namespace_key minute# part# reporter body")},
	{"evaluation_series", 4, columns("unit start_at# namespace_key flag_key body")},
	{"evaluation_flags", 2, columns("namespace_key flag_key first_at# last_at#")},
	{"evaluation_marks", 1, columns("mark_name at#")},
	{"favorites", 3, columns("account_hash namespace_key flag_key added_at#")},
}

// columns parses a list of names. The names of integer columns end in #.
func columns(list string) []column {
	var all []column
	for _, name := range strings.Fields(list) {
		name, integer := strings.CutSuffix(name, "#")
		all = append(all, column{name, integer})
	}
	return all
}

func namesOf(columns []column) []string {
	return lists.Map(columns, func(c column) string { return c.name })
}

// selectPage returns the query for the next page in the order of the primary key. The first
// page has a nil last key.
func (t *table) selectPage(last []any) (query string, args []any) {
	query = "SELECT " + strings.Join(namesOf(t.columns), ", ") + " FROM " + t.name
	order := strings.Join(namesOf(t.columns[:t.keys]), ", ")
	if last != nil {
		// PostgreSQL and SQLite find the page in the index by the first comparison, MySQL and
		// MariaDB by the second.
		condition, values := after(t.columns[:t.keys], last)
		query += " WHERE (" + order + ") > (" + strings.TrimSuffix(strings.Repeat("?, ", t.keys), ", ") + ") AND (" + condition + ")"
		args = append(slices.Clone(last), values...)
	}
	return query + " ORDER BY " + order + " LIMIT " + strconv.Itoa(pageRows), args
}

// after returns the condition that a row comes after the key.
func after(keys []column, last []any) (condition string, args []any) {
	name := keys[0].name
	if len(keys) == 1 {
		return name + " > ?", []any{last[0]}
	}
	rest, values := after(keys[1:], last[1:])
	return name + " > ? OR " + name + " = ? AND (" + rest + ")", append([]any{last[0], last[0]}, values...)
}

// newRow returns destinations for the columns of a row.
func (t *table) newRow() []any {
	return lists.Map(t.columns, func(c column) any {
		if c.integer {
			return new(sql.NullInt64)
		}
		return new(sql.NullString)
	})
}

// valuesOf returns the values of a row, each an int64, a string or nil.
func valuesOf(row []any) []any {
	return lists.Map(row, func(dest any) any {
		value, _ := dest.(driver.Valuer).Value() // never fails for these types
		return value
	})
}
