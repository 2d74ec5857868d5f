package openapi

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// TestDryRun: a dry run of each operation that changes something succeeds, as the operation itself
// does afterwards, and leaves the database as it is. Operations without dry runs refuse it.
func TestDryRun(t *testing.T) {
	s := newShop(t)
	routes := routesOf(false)
	for _, step := range scenario {
		i := slices.IndexFunc(handler.Operations(), func(o *call.Operation) bool { return o.Name == step.operation })
		to, message := routes[step.operation], s.fill(step.request)
		// Revoke is for providers of identities, which send nothing else than their form.
		if i >= 0 && handler.Operations()[i].Changes() && handler.Operations()[i].Method() != "Revoke" {
			want := http.StatusOK
			if !handler.Operations()[i].TakesMessage() {
				want = http.StatusBadRequest
			}
			before := dump(t, s.db)
			if status, body := s.send(to, message, call.DryRunHeader, "true"); status != want {
				t.Errorf("dry run of %s %s: status %d: %s", step.operation, message, status, body)
			}
			if diff := cmp.Diff(before, dump(t, s.db)); diff != "" {
				t.Fatalf("dry run of %s (-before +after):\n%s", step.operation, diff)
			}
			if status, _ := s.send(to, message, call.DryRunHeader, "yes"); status != http.StatusBadRequest {
				t.Errorf("%s with an invalid header: status %d", step.operation, status)
			}
		}
		status, body := s.send(to, message)
		if status != http.StatusOK {
			t.Fatalf("%s %s: status %d: %s", step.operation, message, status, body)
		}
		if step.save != "" {
			s.saved[step.save] = idOf(t, body)
		}
	}
}

// dump returns all rows of the database.
func dump(t *testing.T, db *sql.DB) []string {
	t.Helper()
	var all []string
	for _, table := range column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
		columns := column(t, db, "SELECT name FROM pragma_table_info('"+table+"')")
		quoted := "quote(" + strings.Join(columns, ") || ' ' || quote(") + ")"
		for _, row := range column(t, db, "SELECT "+quoted+" FROM "+table) {
			all = append(all, table+" "+row)
		}
	}
	slices.Sort(all)
	return all
}

func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	defer rows.Close()
	var values []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	return values
}
