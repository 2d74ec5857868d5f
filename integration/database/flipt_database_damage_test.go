package database

import (
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// TestDamagedFliptDatabase damages random rows and fields: each flag evaluates as before, or
// is off or missing and listed.
func TestDamagedFliptDatabase(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		data, flipt, dialect := fliptdbtest.Generate(17), s.Empty(t), "mysql"
		if s.IsPostgres() {
			dialect = "postgres"
		}
		db, err := harness.OpenSQL(flipt)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := data.StoreUnchecked(t.Context(), db, dialect); err != nil {
			t.Fatal(err)
		}
		fliptdbtest.Fuzz(t, data, db, harness.OpenStore(t, flipt).SQL(), dialect, 1, 40)
	})
}
