package fliptdb_test

import (
	"testing"

	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// Damage never makes targeting wider: a flag evaluates as before, or is off or missing and
// listed.
func TestDamagedDatabase(t *testing.T) {
	data, db := fliptdbtest.Generate(3), empty(t)
	if err := data.StoreUnchecked(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	fliptdbtest.Fuzz(t, data, db, db, "sqlite", 1, 60)
}
