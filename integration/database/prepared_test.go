package database

import (
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/store"
)

// TestPreparedStatements: connections to PostgreSQL keep their statements prepared, but
// leave none in a session that a pooler may give to other clients.
func TestPreparedStatements(t *testing.T) {
	prepared := func(t *testing.T, database string) int {
		// One of the two connections writes, and is used for the query below.
		db, err := store.Open(t.Context(), database, store.Options{MaxOpenConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		putCounter(t, db)
		var n int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_prepared_statements").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Run("direct", func(t *testing.T) {
		harness.Postgres.Need(t)
		if got := prepared(t, harness.Postgres.Migrated(t)); got == 0 {
			t.Error("no statements are prepared")
		}
	})
	t.Run("PgBouncer", func(t *testing.T) {
		pooler := pgBouncer(t)
		if got := prepared(t, pooler.Database(databaseName(harness.Postgres.Migrated(t)))); got != 0 {
			t.Errorf("%d statements are prepared", got)
		}
	})
}

// TestPreparedStatementsOutliveSchemaStep: a later release widens a column while this one
// has prepared statements that read it.
func TestPreparedStatementsOutliveSchemaStep(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	db := harness.OpenStore(t, database)
	putCounter(t, db)
	c := counter{faulty: db, straight: db}
	for range 2 {
		if _, err := c.count(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.stored(t); got == 0 {
			t.Fatal("the counter is still 0")
		}
	}
	harness.Execute(t, harness.OpenStore(t, database).SQL(), `ALTER TABLE flags ALTER COLUMN body TYPE VARCHAR(10000000)`)
	harness.Execute(t, harness.OpenStore(t, database).SQL(), `ALTER TABLE namespaces ALTER COLUMN body TYPE VARCHAR(10000000)`)
	if _, err := c.count(t.Context()); err != nil {
		t.Errorf("writing: %v", err)
	}
	if got, want := c.stored(t), 3; got != want {
		t.Errorf("counted to %d, want %d", got, want)
	}
}
