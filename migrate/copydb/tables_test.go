package copydb

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

// A new table or column must either be copied or be listed here.
func TestTablesAreThoseOfTheSchema(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "guidon.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	notCopied := []string{"leases", "schema_lock", "schema_steps", "secrets", "spent"} // they belong to one database only
	got := make(map[string][]string)
	rows, err := db.SQL().QueryContext(t.Context(), `SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, column, kind string
		var key int
		if err := rows.Scan(&name, &column, &kind, &key); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(kind, "INT") {
			column += "#"
		}
		if key > 0 {
			column += "!"
		}
		got[name] = append(got[name], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]string)
	for _, table := range tables {
		for i, c := range table.columns {
			name := c.name
			if c.integer {
				name += "#"
			}
			if i < table.keys {
				name += "!"
			}
			want[table.name] = append(want[table.name], name)
		}
	}
	for name := range got {
		if slices.Contains(notCopied, name) {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the copied columns are not those of the schema (-schema +copied; # integer, ! key):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	query, args := tables[3].selectPage([]any{"shop", int64(7), int64(2)})
	const condition = " WHERE (namespace_key, revision, seq) > (?, ?, ?) AND (namespace_key > ? OR namespace_key = ? AND" +
		" (revision > ? OR revision = ? AND (seq > ?))) ORDER BY namespace_key, revision, seq LIMIT 500"
	if _, got, _ := strings.Cut(query, " FROM changes"); got != condition {
		t.Errorf("got\n%s\nwant\n%s", got, condition)
	}
	if diff := cmp.Diff([]any{"shop", int64(7), int64(2), "shop", "shop", int64(7), int64(7), int64(2)}, args); diff != "" {
		t.Error(diff)
	}
}
