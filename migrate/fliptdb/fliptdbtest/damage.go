package fliptdbtest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// field is a column that may be damaged, and how. Damage is always recognizable: values that
// no Flipt could read or write, and references to nothing.
type field struct {
	table  string
	id     string // columns that identify a row
	column string
	values []any // besides those of every column
}

// gone is a key or id that does not exist.
const gone = "gone"

var fields = []field{
	{"namespaces", "key", "key", nil}, {"namespaces", "key", "name", nil}, {"namespaces", "key", "protected", nil},
	{"namespaces", "key", "created_at", nil},
	{"segments", "namespace_key key", "key", []any{gone}}, {"segments", "namespace_key key", "namespace_key", []any{gone, "empty"}},
	{"segments", "namespace_key key", "name", nil}, {"segments", "namespace_key key", "match_type", []any{-1, 2, 256}},
	{"segments", "namespace_key key", "created_at", nil},
	{"constraints", "id", "id", nil}, {"constraints", "id", "namespace_key", []any{gone, "empty"}},
	{"constraints", "id", "segment_key", []any{gone}},
	{"constraints", "id", "type", []any{0, 6, -1, 257}}, {"constraints", "id", "property", nil},
	{"constraints", "id", "operator", []any{"", "like", "EQ"}},
	{"constraints", "id", "value", nil}, {"constraints", "id", "created_at", nil}, {"constraints", "id", "updated_at", nil},
	{"flags", "namespace_key key", "key", nil}, {"flags", "namespace_key key", "namespace_key", []any{gone}},
	{"flags", "namespace_key key", "name", nil},
	{"flags", "namespace_key key", "enabled", nil}, {"flags", "namespace_key key", "type", []any{2, -1, 256}},
	{"flags", "namespace_key key", "created_at", nil},
	{"variants", "id", "id", []any{gone}}, {"variants", "id", "namespace_key", []any{gone, "empty"}},
	{"variants", "id", "flag_key", []any{gone}}, {"variants", "id", "key", nil},
	{"variants", "id", "name", nil}, {"variants", "id", "created_at", nil},
	{"rules", "id", "id", []any{gone}}, {"rules", "id", "namespace_key", []any{gone, "empty"}}, {"rules", "id", "flag_key", []any{gone}},
	{"rules", "id", "rank", nil},
	{"rules", "id", "segment_operator", []any{2, -1, 256}}, {"rules", "id", "created_at", nil},
	{"rule_segments", "rule_id segment_key", "rule_id", []any{gone}},
	{"rule_segments", "rule_id segment_key", "namespace_key", []any{gone, "empty"}},
	{"rule_segments", "rule_id segment_key", "segment_key", []any{gone}},
	{"distributions", "id", "id", nil}, {"distributions", "id", "rule_id", []any{gone}}, {"distributions", "id", "variant_id", []any{gone}},
	{"distributions", "id", "rollout", []any{-1, 100.5}}, {"distributions", "id", "created_at", nil},
	{"distributions", "id", "updated_at", nil},
	{"rollouts", "id", "id", []any{gone}}, {"rollouts", "id", "namespace_key", []any{gone, "empty"}},
	{"rollouts", "id", "flag_key", []any{gone}},
	{"rollouts", "id", "type", []any{0, 3, 258}}, {"rollouts", "id", "rank", nil}, {"rollouts", "id", "created_at", nil},
	{"rollout_thresholds", "id", "id", nil}, {"rollout_thresholds", "id", "rollout_id", []any{gone}},
	{"rollout_thresholds", "id", "percentage", []any{-5, 101}},
	{"rollout_thresholds", "id", "value", nil},
	{"rollout_segments", "id", "id", []any{gone}}, {"rollout_segments", "id", "rollout_id", []any{gone}},
	{"rollout_segments", "id", "value", nil},
	{"rollout_segments", "id", "segment_operator", []any{2, -1, 256}},
	{"rollout_segment_references", "rollout_segment_id segment_key", "rollout_segment_id", []any{gone}},
	{"rollout_segment_references", "rollout_segment_id segment_key", "namespace_key", []any{gone, "empty"}},
	{"rollout_segment_references", "rollout_segment_id segment_key", "segment_key", []any{gone}},
}

// deletable are the tables whose rows others refer to: without one of them, something is
// left that belongs to nothing, or lacks a part.
var deletable = []string{"namespaces", "segments", "variants", "rules", "rollouts", "rollout_thresholds", "rollout_segments"}

// damager damages rows of a database of [Data.StoreUnchecked], and restores them.
type damager struct {
	*generator
	ctx     context.Context
	session *sql.Conn
	dialect string
	done    []string        // the damage so far
	touched map[string]bool // tables to restore
	err     error
}

// tables are all that may be damaged.
func tables() []string {
	var all []string
	for _, f := range fields {
		if !slices.Contains(all, f.table) {
			all = append(all, f.table)
		}
	}
	return all
}

// keep copies the tables.
func (d *damager) keep() {
	if d.dialect == "mysql" {
		d.exec("SET SESSION sql_mode = ''") // which accepts zero dates
	}
	for _, table := range tables() {
		d.exec("CREATE TABLE kept_" + table + " AS SELECT * FROM " + table)
	}
}

// restore undoes all damage.
func (d *damager) restore() {
	d.exec("BEGIN")
	for table := range d.touched {
		d.exec("DELETE FROM " + table)
		d.exec("INSERT INTO " + table + " SELECT * FROM kept_" + table)
	}
	d.exec("COMMIT")
	d.touched, d.done = map[string]bool{}, nil
}

func (d *damager) exec(statement string, args ...any) {
	if d.err == nil {
		if _, err := d.session.ExecContext(d.ctx, quote(d.dialect, statement), args...); err != nil {
			d.err = fmt.Errorf("%s %q: %w", statement, args, err)
		}
	}
}

// damage damages one field, deletes a row or stores one twice.
func (d *damager) damage() {
	f := pick(d.generator, fields)
	if d.keepsDefaults(f.table, f.column) {
		return
	}
	where := d.row(f)
	if where == "" {
		return
	}
	d.touched[f.table] = true
	switch n := d.IntN(12); {
	case n == 0 && slices.Contains(deletable, f.table) && !d.keepsDefaults(f.table, "id"):
		d.exec("DELETE FROM " + f.table + where)
		d.done = append(d.done, "delete"+where+" of "+f.table)
	case n == 1:
		d.exec("INSERT INTO " + f.table + " SELECT * FROM " + f.table + where)
		d.done = append(d.done, "twice"+where+" of "+f.table)
	default:
		value := pick(d.generator, append(d.valuesOf(f.column), f.values...))
		literal := d.literal(value)
		d.exec("UPDATE " + f.table + " SET [" + f.column + "] = " + literal + where)
		d.done = append(d.done, f.table+"."+f.column+" = "+literal+where)
	}
}

// keepsDefaults reports whether the column is the id of variants of MySQL. There, Flipt
// keeps the ids of deleted default variants, and evaluates without them.
func (d *damager) keepsDefaults(table, column string) bool {
	return d.dialect == "mysql" && table == "variants" && column == "id"
}

// raw is an SQL expression.
type raw string

// valuesOf returns values that no column of this kind can have.
func (d *damager) valuesOf(column string) []any {
	values := []any{raw("NULL")}
	isTime := strings.HasSuffix(column, "_at")
	isNumber := slices.Contains([]string{"match_type", "type", "rank", "segment_operator", "rollout", "percentage", "enabled", "protected"},
		column)
	switch {
	case isTime && d.dialect == "postgres":
		values = append(values, raw("'infinity'"), raw("'0044-03-15 BC'"))
	case isTime:
		values = append(values, raw("'0000-00-00 00:00:00'"), raw("'2024-02-00 10:00:00'"))
	case d.dialect != "sqlite":
	case isNumber:
		values = append(values, "x", 1e30, raw("x'00ff'"))
	default:
		values = append(values, raw("CAST(x'61ff' AS TEXT)"), raw("CAST(x'610062' AS TEXT)"))
	}
	return values
}

func (d *damager) literal(value any) string {
	if text, ok := value.(string); ok {
		return "'" + text + "'"
	}
	return fmt.Sprint(value)
}

// row returns the condition for a random row of the table, or "" if it has none.
func (d *damager) row(f field) string {
	names := strings.Fields(f.id)
	columns := "[" + strings.Join(names, "], [") + "]"
	rows, err := d.session.QueryContext(d.ctx, quote(d.dialect, "SELECT "+columns+" FROM kept_"+f.table+" ORDER BY "+columns))
	if err != nil {
		d.err = err
		return ""
	}
	defer rows.Close()
	var conditions []string
	for rows.Next() {
		values, to := make([]string, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if d.err = rows.Scan(to...); d.err != nil {
			return ""
		}
		var parts []string
		for i, name := range names {
			parts = append(parts, "["+name+"] = '"+values[i]+"'")
		}
		conditions = append(conditions, " WHERE "+strings.Join(parts, " AND "))
	}
	if d.err = rows.Err(); d.err != nil || len(conditions) == 0 {
		return ""
	}
	return pick(d.generator, conditions)
}
