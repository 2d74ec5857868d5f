package database

import (
	"database/sql"
	commandline "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
)

var update = commandline.Bool("update", false, "rewrite the golden schemas")

// TestMigrateGoldenSchema compares the schema with a golden file, for the review of schema
// steps. MySQL and MariaDB share a file, which omits what they name differently.
func TestMigrateGoldenSchema(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		got := schema(t, harness.OpenStore(t, s.Migrated(t)).SQL(), s)
		golden := "../../migrate/testdata/mysql.schema.txt"
		if s.IsPostgres() {
			golden = "../../migrate/testdata/postgres.schema.txt"
		}
		if *update {
			if err := os.WriteFile(filepath.FromSlash(golden), []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.FromSlash(golden))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("the schema is not that of %s; run go test ./integration/database -run GoldenSchema -update (-golden +got):\n%s", golden, diff)
		}
	})
}

// schema describes all tables: their columns, then their indexes.
func schema(t *testing.T, db *sql.DB, s *harness.DatabaseServer) string {
	t.Helper()
	indexes := `SELECT table_name, index_name, CASE WHEN non_unique = 0 THEN 'unique' ELSE '' END,
		GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ')
		FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name, non_unique ORDER BY 1, 2`
	if s.IsPostgres() {
		indexes = `SELECT tablename, indexname, '', indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1, 2`
	}
	columns := texts(t, db, `SELECT table_name, column_name, data_type, COALESCE(character_maximum_length, 0), is_nullable,
		COALESCE(collation_name, ''), COALESCE(column_default, 'NULL') FROM information_schema.columns
		WHERE table_schema = `+schemaOf(s)+` ORDER BY table_name, ordinal_position`)
	sortByName(columns, 1)
	var text strings.Builder
	table := ""
	for _, c := range columns {
		if c[0] != table {
			table = c[0]
			fmt.Fprintf(&text, "\n%s\n", table)
		}
		kind := c[2]
		if c[3] != "0" {
			kind += "(" + c[3] + ")"
		}
		if c[4] == "NO" {
			kind += " not null"
		}
		if c[5] != "" && table != "schema_lock" { // that has the database's default, which differs
			kind += " collate " + c[5]
		}
		switch c[6] {
		case "NULL": // there is none
		case "":
			kind += " default ''" // MySQL does not quote it
		default:
			kind += " default " + c[6]
		}
		fmt.Fprintf(&text, "    %-14s %s\n", c[1], kind)
	}
	text.WriteString("\nindexes\n")
	rows := texts(t, db, indexes)
	sortByName(rows, 2)
	for _, i := range rows {
		what := strings.TrimSpace(i[2] + " (" + i[3] + ")")
		if s.IsPostgres() {
			_, after, _ := strings.Cut(i[3], " USING ")
			what = after
			if strings.HasPrefix(i[3], "CREATE UNIQUE") {
				what = "unique " + what
			}
		}
		fmt.Fprintf(&text, "    %s.%s %s\n", i[0], i[1], what)
	}
	return strings.TrimPrefix(text.String(), "\n")
}

// sortByName sorts the rows by their first columns, whatever the collation of the database:
// MySQL and MariaDB have the underscore in different places.
func sortByName(rows [][]string, columns int) {
	slices.SortStableFunc(rows, func(a, b []string) int { return slices.Compare(a[:columns], b[:columns]) })
}

// texts returns the rows of the query, with all values as strings.
func texts(t *testing.T, db *sql.DB, query string) [][]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for rows.Next() {
		row := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func tablesOf(t *testing.T, db *sql.DB, s *harness.DatabaseServer) []string {
	t.Helper()
	var names []string
	for _, row := range texts(t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+schemaOf(s)+" ORDER BY table_name") {
		names = append(names, row[0])
	}
	return names
}

// schemaOf returns the SQL expression for the schema of the tables.
func schemaOf(s *harness.DatabaseServer) string {
	if s.IsPostgres() {
		return "current_schema()"
	}
	return "DATABASE()"
}
