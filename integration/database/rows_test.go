package database

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate/copydb"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// importedFlags is the number of flags of [imported]. All of them have one revision.
const importedFlags = 3000

// imported returns a database into which flags have been imported, and whose tables have no
// statistics.
func imported(t *testing.T, s *harness.DatabaseServer) (database string, revision int64) {
	t.Helper()
	database = s.Migrated(t)
	db := harness.OpenStore(t, database)
	if s.IsPostgres() {
		preventStatistics(t, db.SQL())
	}
	return database, importFlags(t, db, "")
}

// preventStatistics prevents PostgreSQL from analyzing the tables until the test ends: by
// itself, and, with a lock, after a large write.
func preventStatistics(t *testing.T, db *sql.DB) {
	t.Helper()
	tables := texts(t, db, "SELECT table_name, '' FROM information_schema.tables WHERE table_schema = current_schema()")
	for _, table := range tables {
		harness.Execute(t, db, "ALTER TABLE "+table[0]+" SET (autovacuum_enabled = off)")
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if _, err := tx.ExecContext(t.Context(), "LOCK TABLE "+table[0]+" IN SHARE UPDATE EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = tx.Rollback() })
}

// importFlags puts all flags, with the description, and returns the revision.
func importFlags(t *testing.T, db *store.DB, description string) int64 {
	t.Helper()
	revision, err := db.Update(t.Context(), "default", service.Write{Message: "import"}, func(ctx context.Context, tx service.Tx) error {
		for i := range importedFlags {
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: importedKey(i), Description: description}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func importedKey(i int) string { return fmt.Sprintf("flag-%05d", i) }

// TestRowsAfterImport: no operation reads all rows of a namespace when it needs some, also
// before the server has statistics of the tables.
func TestRowsAfterImport(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database, revision := imported(t, s)
		db, err := store.Open(t.Context(), database, store.Options{MaxOpenConns: 1}) // so that all reads are of one session
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		held, err := db.Load(t.Context(), "default", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.RegisterReader(t.Context(), "reader"); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		for range 5 {
			_, err := db.Update(t.Context(), "default", service.Write{Message: "edit"}, func(ctx context.Context, tx service.Tx) error {
				return tx.PutFlag(ctx, &guidon.Flag{Key: importedKey(7), Name: time.Now().String()})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var keys []string
		for i := range 100 {
			keys = append(keys, importedKey(i))
		}
		middle := guidon.Position{Revision: revision, Sequence: importedFlags / 2}
		changes := func(want int, query change.Query) func(ctx context.Context) error {
			query.Namespace, query.Limit = "default", 25
			return func(ctx context.Context) error {
				found, err := db.Changes(ctx, query)
				return wantCount(want, len(found), err)
			}
		}
		for _, operation := range []struct {
			name  string
			limit int64 // on the rows
			run   func(ctx context.Context) error
		}{
			{"latest changes", 1500, func(ctx context.Context) error {
				found, err := db.LatestChanges(ctx, "default", change.KindFlag, keys)
				return wantCount(100, len(found), err)
			}},
			{"newest changes", 200, changes(25, change.Query{})},
			{"changes before a record of the import", 200, changes(25, change.Query{Before: middle})},
			{"changes after a record of the import", 200, changes(25, change.Query{After: middle})},
			{"changes of a flag", 200, changes(6, change.Query{Kind: change.KindFlag, Key: importedKey(7)})},
			{"changes by an actor", 200, changes(0, change.Query{Actor: "nobody"})},
			{"changes since", 2500, changes(5, change.Query{Since: &before})},
			{"search", 200, func(ctx context.Context) error {
				found, _, err := db.SearchChanges(ctx, change.Search{Query: change.Query{Namespace: "default", Limit: 25}, Message: "edit"})
				return wantCount(5, len(found), err)
			}},
			{"load", 100, func(ctx context.Context) error {
				shot, err := db.Load(ctx, "default", held)
				return wantCount(importedFlags, len(shot.Flags()), err)
			}},
			{"earlier state", 100, func(ctx context.Context) error {
				shot, err := db.LoadAt(ctx, "default", service.Moment{Revision: revision}, held, nil)
				return wantCount(importedFlags, len(shot.Flags()), err)
			}},
			{"changed namespaces", 100, func(ctx context.Context) error {
				found, err := db.ChangedNamespaces(ctx, "reader", "", 10)
				return wantCount(1, len(found), err)
			}},
			{"last change", 100, func(ctx context.Context) error {
				_, err := db.Update(ctx, "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
					_, err := tx.LastChange(ctx, change.KindFlag, importedKey(9))
					return err
				})
				return err
			}},
		} {
			before := rowsRead(t, db.Reader(), s)
			if err := operation.run(t.Context()); err != nil {
				t.Errorf("%s: %v", operation.name, err)
			}
			if read := rowsRead(t, db.Reader(), s) - before; read > operation.limit {
				t.Errorf("%s: read %d rows, want at most %d", operation.name, read, operation.limit)
			}
		}
	})
}

// wantCount returns an error unless the operation found as many as wanted.
func wantCount(want, got int, err error) error {
	if err == nil && got != want {
		return fmt.Errorf("found %d, want %d", got, want)
	}
	return err
}

// TestCopyRows: a copy of a database reads each row once. Of so few rows, PostgreSQL knows
// that only with statistics.
func TestCopyRows(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		importFlags(t, harness.OpenStore(t, database), "")
		from, err := store.Open(t.Context(), database, store.Options{MaxOpenConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = from.Close() })
		to := harness.OpenStore(t, "sqlite:"+filepath.Join(t.TempDir(), "copy.db"))
		before := rowsRead(t, from.SQL(), s)
		_, err = copydb.Copy(t.Context(), from, to, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if read, limit := rowsRead(t, from.SQL(), s)-before, int64(3*importedFlags); read > limit {
			t.Errorf("read %d rows, want at most %d", read, limit)
		}
	})
}

// TestAnalyzeAfterImport: PostgreSQL has statistics immediately after a large write.
func TestAnalyzeAfterImport(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		if !s.IsPostgres() {
			t.Skip("this database needs no call for statistics")
		}
		db := harness.OpenStore(t, s.Migrated(t))
		importFlags(t, db, "")
		for _, table := range []string{"flags", "changes"} {
			if n := countRows(t, db.SQL(), "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE relname = '"+table+"'"); n < importedFlags {
				t.Errorf("table %s: the statistics have %d rows, want at least %d", table, n, importedFlags)
			}
		}
	})
}
