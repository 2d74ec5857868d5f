package database

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// TestFliptDatabase imports a Flipt database of each engine into the same engine. The
// results of evaluations of generated contexts equal those of Flipt, and old tokens are
// still accepted (contract 7, operations 1.4 and 4.9).
func TestFliptDatabase(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		data := fliptdbtest.Generate(11)
		flipt := s.Empty(t)
		theirs, err := harness.OpenSQL(flipt)
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		dialect := "mysql"
		if s.IsPostgres() {
			dialect = "postgres"
		}
		if err := data.Store(t.Context(), theirs, dialect); err != nil {
			t.Fatal(err)
		}

		source := harness.OpenStore(t, flipt) // as the command does
		content, err := fliptdb.Read(t.Context(), source.SQL(), source.Dialect(), fliptdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(content.Findings) > 0 {
			t.Fatalf("got findings %v, want none", content.Findings)
		}
		db := harness.OpenStore(t, s.Migrated(t))
		for range 2 { // the second time changes nothing
			if err := content.Write(t.Context(), db, service.Write{}, func(int) {}); err != nil {
				t.Fatal(err)
			}
		}
		fliptdbtest.Compare(t, data, db)
		compareTimes(t, data, db)

		svc := service.NewService(db, time.Now)
		for _, token := range []string{fliptdbtest.Token, fliptdbtest.ScopedToken} {
			if _, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", token); err != nil {
				t.Errorf("an old token: %v", err)
			}
		}
	})
}

// compareTimes compares the times of the flags to the microsecond.
func compareTimes(t *testing.T, data *fliptdbtest.Data, db *store.DB) {
	t.Helper()
	for _, row := range data.Flags {
		snapshot, _, err := db.Snapshot(t.Context(), row.Namespace, service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		f := snapshot.Flag(row.Key)
		got, want := []time.Time{f.CreatedAt, f.UpdatedAt}, []time.Time{row.Created, row.Updated}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("times of %s/%s (-want +got):\n%s", row.Namespace, row.Key, diff)
		}
	}
}
