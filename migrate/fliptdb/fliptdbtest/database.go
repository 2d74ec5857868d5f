package fliptdbtest

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// schema has the tables listed in operations 4.9. The placeholders * and @ stand for the
// types of JSON and of times, and names in brackets are quoted.
const schema = `
CREATE TABLE schema_migrations (version BIGINT NOT NULL, dirty BOOLEAN NOT NULL);
CREATE TABLE namespaces ([key] VARCHAR(255) PRIMARY KEY, name VARCHAR(255) NOT NULL, description TEXT NOT NULL, protected BOOLEAN NOT NULL DEFAULT FALSE, created_at @, updated_at @, state_modified_at @ NULL);
CREATE TABLE flags ([key] VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, description TEXT NOT NULL, enabled BOOLEAN NOT NULL DEFAULT FALSE, created_at @, updated_at @, namespace_key VARCHAR(255) NOT NULL, [type] INTEGER NOT NULL DEFAULT 0, default_variant_id VARCHAR(255), metadata *, PRIMARY KEY (namespace_key, [key]));
CREATE TABLE variants (id VARCHAR(255) PRIMARY KEY, flag_key VARCHAR(255) NOT NULL, [key] VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, description TEXT NOT NULL, created_at @, updated_at @, attachment *, namespace_key VARCHAR(255) NOT NULL);
CREATE TABLE segments ([key] VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, description TEXT NOT NULL, created_at @, updated_at @, match_type INTEGER NOT NULL DEFAULT 0, namespace_key VARCHAR(255) NOT NULL, PRIMARY KEY (namespace_key, [key]));
CREATE TABLE constraints (id VARCHAR(255) PRIMARY KEY, segment_key VARCHAR(255) NOT NULL, [type] INTEGER NOT NULL DEFAULT 0, property VARCHAR(255) NOT NULL, operator VARCHAR(255) NOT NULL, value TEXT NOT NULL, created_at @, updated_at @, description TEXT, namespace_key VARCHAR(255) NOT NULL);
CREATE TABLE rules (id VARCHAR(255) PRIMARY KEY, flag_key VARCHAR(255) NOT NULL, [rank] INTEGER NOT NULL DEFAULT 1, created_at @, updated_at @, namespace_key VARCHAR(255) NOT NULL, segment_operator INTEGER NOT NULL DEFAULT 0);
CREATE TABLE rule_segments (rule_id VARCHAR(255) NOT NULL, namespace_key VARCHAR(255) NOT NULL, segment_key VARCHAR(255) NOT NULL, UNIQUE (rule_id, namespace_key, segment_key));
CREATE TABLE distributions (id VARCHAR(255) PRIMARY KEY, rule_id VARCHAR(255) NOT NULL, variant_id VARCHAR(255) NOT NULL, rollout FLOAT NOT NULL DEFAULT 0, created_at @, updated_at @);
CREATE TABLE rollouts (id VARCHAR(255) PRIMARY KEY, namespace_key VARCHAR(255) NOT NULL, flag_key VARCHAR(255) NOT NULL, [type] INTEGER NOT NULL DEFAULT 0, description TEXT NOT NULL, [rank] INTEGER NOT NULL DEFAULT 1, created_at @, updated_at @);
CREATE TABLE rollout_thresholds (id VARCHAR(255) PRIMARY KEY, namespace_key VARCHAR(255) NOT NULL, rollout_id VARCHAR(255) UNIQUE NOT NULL, percentage FLOAT NOT NULL DEFAULT 0, value BOOLEAN NOT NULL DEFAULT FALSE);
CREATE TABLE rollout_segments (id VARCHAR(255) PRIMARY KEY, rollout_id VARCHAR(255) NOT NULL, value BOOLEAN NOT NULL DEFAULT FALSE, segment_operator INTEGER NOT NULL DEFAULT 0);
CREATE TABLE rollout_segment_references (rollout_segment_id VARCHAR(255) NOT NULL, namespace_key VARCHAR(255) NOT NULL, segment_key VARCHAR(255) NOT NULL, UNIQUE (rollout_segment_id, namespace_key, segment_key));
CREATE TABLE authentications (id VARCHAR(255) PRIMARY KEY, hashed_client_token VARCHAR(255) NOT NULL UNIQUE, method INTEGER NOT NULL DEFAULT 0, metadata TEXT, expires_at @ NULL, created_at @, updated_at @);
CREATE TABLE operation_lock (operation VARCHAR(255) PRIMARY KEY, version INTEGER NOT NULL DEFAULT 0, last_acquired_at @ NULL, acquired_until @ NULL)`

// types has the types that replace the placeholders in schema, the table options, and the
// latest schema version (operations 4.7).
var types = map[string]struct {
	json, time, options string
	version             int
}{
	"sqlite":   {"TEXT", "TIMESTAMP", "", 15},
	"postgres": {"JSONB", "TIMESTAMP", "", 16},
	"mysql":    {"JSON", "DATETIME(6)", " DEFAULT CHARACTER SET utf8mb4", 15},
}

// unchecked matches the constraints that keep a database from storing damaged rows.
var unchecked = regexp.MustCompile(`, (PRIMARY KEY|UNIQUE) \([^)]*\)| (PRIMARY KEY|UNIQUE|NOT NULL)`)

// writer executes statements until one fails.
type writer struct {
	ctx     context.Context
	db      *sql.Tx
	dialect string
	err     error
}

// Store creates the tables and inserts the rows. The dialect is sqlite, postgres or mysql.
func (d *Data) Store(ctx context.Context, db *sql.DB, dialect string) error {
	return d.store(ctx, db, dialect, schema)
}

// StoreUnchecked is [Data.Store] with tables that accept damaged rows.
func (d *Data) StoreUnchecked(ctx context.Context, db *sql.DB, dialect string) error {
	return d.store(ctx, db, dialect, unchecked.ReplaceAllString(schema, ""))
}

func (d *Data) store(ctx context.Context, db *sql.DB, dialect, schema string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	w := &writer{ctx: ctx, db: tx, dialect: dialect}
	kind := types[dialect]
	for statement := range strings.SplitSeq(schema, ";") {
		w.exec(strings.NewReplacer("*", kind.json, "@", kind.time).Replace(statement) + kind.options)
	}
	w.insert("schema_migrations", "version dirty", kind.version, false)
	d.write(w)
	if w.err != nil {
		return w.err
	}
	return tx.Commit()
}

func (d *Data) write(w *writer) {
	insert(w, "namespaces", "key name description protected created_at updated_at", d.Namespaces)
	insert(w, "segments", "namespace_key key name description match_type created_at updated_at", d.Segments)
	insert(w, "constraints", "id namespace_key segment_key type property operator value description? created_at updated_at", d.Constraints)
	insert(w, "flags", "namespace_key key name description enabled type metadata? default_variant_id? created_at updated_at", d.Flags)
	insert(w, "variants", "id namespace_key flag_key key name description attachment? created_at updated_at", d.Variants)
	insert(w, "rules", "id namespace_key flag_key rank segment_operator created_at updated_at", d.Rules)
	insert(w, "rule_segments", "rule_id namespace_key segment_key", d.RuleSegments)
	insert(w, "distributions", "id rule_id variant_id rollout created_at updated_at", d.Distributions)
	insert(w, "rollouts", "id namespace_key flag_key type description rank created_at updated_at", d.Rollouts)
	insert(w, "rollout_thresholds", "id namespace_key rollout_id percentage value", d.Thresholds)
	insert(w, "rollout_segments", "id rollout_id value segment_operator", d.RolloutSegments)
	insert(w, "rollout_segment_references", "rollout_segment_id namespace_key segment_key", d.RolloutRefs)
	insert(w, "authentications", "id hashed_client_token method metadata? expires_at? created_at updated_at", d.Authentications)
}

// insert inserts rows, whose fields are in the order of the columns. In a column that is marked
// with ?, a zero value is NULL.
func insert[T any](w *writer, table, columns string, rows []T) {
	marked := strings.Fields(columns)
	for _, row := range rows {
		var values []any
		for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
			if f.Anonymous { // its fields follow
				continue
			}
			value := reflect.ValueOf(row).FieldByIndex(f.Index)
			if strings.HasSuffix(marked[len(values)], "?") && value.IsZero() {
				values = append(values, nil)
			} else {
				values = append(values, value.Interface())
			}
		}
		w.insert(table, strings.ReplaceAll(columns, "?", ""), values...)
	}
}

func (w *writer) insert(table, columns string, values ...any) {
	names, marks := strings.Fields(columns), make([]string, len(values))
	for i, value := range values {
		marks[i] = "?"
		if w.dialect == "postgres" {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
		if t, ok := value.(time.Time); ok {
			values[i] = w.time(t)
		}
		names[i] = "[" + names[i] + "]"
	}
	w.exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", ")), values...)
}

// time returns a time in the form in which Flipt's driver sends it.
func (w *writer) time(t time.Time) any {
	switch w.dialect {
	case "sqlite":
		return t.Format("2006-01-02 15:04:05.999999999-07:00")
	case "mysql":
		return t.Format("2006-01-02 15:04:05.000000")
	}
	return t
}

func (w *writer) exec(query string, args ...any) {
	if w.err != nil {
		return
	}
	query = quote(w.dialect, query)
	if _, err := w.db.ExecContext(w.ctx, query, args...); err != nil {
		w.err = fmt.Errorf("%.80s: %w", query, err)
	}
}

// quote replaces the brackets around names.
func quote(dialect, query string) string {
	mark := `"`
	if dialect == "mysql" {
		mark = "`"
	}
	return strings.NewReplacer("[", mark, "]", mark).Replace(query)
}
