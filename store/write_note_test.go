package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// maxScanned is how many notes one search examines.
const maxScanned = 2000

// The note of a revision is deleted with the last of its records.
func TestNotesAreDeletedWithTheirRecords(t *testing.T) {
	db := storetest.NewSQLite(t)
	put := func(message string, keys ...string) {
		t.Helper()
		_, err := db.Update(t.Context(), "default", service.Write{Message: message}, func(ctx context.Context, tx service.Tx) error {
			for _, key := range keys {
				if err := tx.PutFlag(ctx, &guidon.Flag{Key: key, Description: message}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("first", "a", "b")
	put("second", "a")
	notes := func(step string, want ...string) {
		t.Helper()
		if _, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 100); err != nil {
			t.Fatal(err)
		}
		got := queryTexts(t, db, "SELECT message FROM change_notes ORDER BY revision")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	notes("the first revision is still the latest of b", "first", "second")
	put("", "b")
	notes("no record is left of the first revision", "second")
	put("third", "a")
	notes("no record is left of the second", "third")
}

// A search by message examines a limited number of notes, and continues after them.
func TestSearchOfManyNotes(t *testing.T) {
	db := storetest.NewSQLite(t)
	if _, err := db.Update(t.Context(), "default", service.Write{Message: "the needle"}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "a"})
	}); err != nil {
		t.Fatal(err)
	}
	insert := `WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO change_notes (namespace_key, revision, message, reason) SELECT 'default', i, 'hay', '' FROM n`
	if _, err := db.SQL().ExecContext(t.Context(), fmt.Sprintf(insert, 2+2*maxScanned)); err != nil {
		t.Fatal(err)
	}
	search := change.Search{Query: change.Query{Namespace: "default", Limit: 3}, Message: "NEEDLE"}
	var scans []int64
	for {
		found, next, err := db.SearchChanges(t.Context(), search)
		if err != nil {
			t.Fatal(err)
		}
		scans = append(scans, next.Revision)
		if len(found) > 0 && found[0].Revision != 2 {
			t.Errorf("got %+v, want revision 2", found[0])
		}
		if next == (guidon.Position{}) {
			if len(found) != 1 {
				t.Errorf("got %d records on the last page, want 1", len(found))
			}
			break
		}
		search.Before = next
	}
	if diff := cmp.Diff([]int64{2 + maxScanned + 1, 3, 0}, scans); diff != "" {
		t.Errorf("the revisions where the scans ended (-want +got):\n%s", diff)
	}
}

// queryTexts returns the first column of a query.
func queryTexts(t *testing.T, db *store.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
