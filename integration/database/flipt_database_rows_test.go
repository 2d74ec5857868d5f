package database

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
	"github.com/guidonhq/guidon/service"
)

// TestFliptDatabaseBadRows: values that only one engine can store, such as a zero date of
// MySQL, are reported with their location. A date is replaced; anything else turns its flag
// off.
func TestFliptDatabaseBadRows(t *testing.T) {
	at := fliptdbtest.Stamps{Created: time.Unix(1, 0).UTC(), Updated: time.Unix(1, 0).UTC()}
	data := &fliptdbtest.Data{
		Namespaces:      []fliptdbtest.Namespace{{Key: "n", Stamps: at}},
		Segments:        []fliptdbtest.Segment{{Namespace: "n", Key: "s", Stamps: at}},
		Flags:           []fliptdbtest.Flag{{Namespace: "n", Key: "bad", Enabled: true, Stamps: at}, {Namespace: "n", Key: "good", Stamps: at}},
		Variants:        []fliptdbtest.Variant{{ID: "v", Namespace: "n", Flag: "bad", Key: "v", Stamps: at}, {ID: "w", Namespace: "n", Flag: "good", Key: "w", Stamps: at}},
		Rules:           []fliptdbtest.Rule{{ID: "r", Namespace: "n", Flag: "bad", Rank: 1, Stamps: at}},
		RuleSegments:    []fliptdbtest.Reference{{Owner: "r", Namespace: "n", Segment: "s"}},
		Distributions:   []fliptdbtest.Distribution{{ID: "d", Rule: "r", Variant: "v", Rollout: 100, Stamps: at}},
		Authentications: []fliptdbtest.Authentication{{ID: "a", Hash: "1", Method: 1, Stamps: at}},
	}
	changes := map[string][]string{
		"mysql": {
			"SET SESSION sql_mode = ''",
			"UPDATE flags SET created_at = '0000-00-00 00:00:00' WHERE `key` = 'good'",
			"UPDATE variants SET updated_at = '2024-02-00 10:00:00' WHERE id = 'w'",
			"UPDATE authentications SET expires_at = '0000-00-00'",
			"ALTER TABLE distributions MODIFY rollout FLOAT NULL",
			"UPDATE distributions SET rollout = NULL",
		},
		"postgres": {
			"UPDATE flags SET created_at = 'infinity' WHERE key = 'good'",
			"UPDATE variants SET updated_at = '0044-03-15 BC' WHERE id = 'w'",
			"UPDATE authentications SET expires_at = '-infinity'",
			"UPDATE distributions SET rollout = 'NaN'",
		},
	}
	wants := map[string][]string{
		"mysql": {
			`authentications a: not imported: expires_at: "0000-00-00 00:00:00.000000" is not a time`,
			`flag n/bad: imported off: rules r: distributions d: rollout: must not be NULL`,
			`flags n/good: created_at: "0000-00-00 00:00:00.000000" is not a time; the time of the import replaces it`,
			`variants w: updated_at: "2024-02-00 10:00:00.000000" is not a time; the time of the import replaces it`,
		},
		"postgres": {
			`authentications a: not imported: expires_at: "-infinity" is not a time`,
			`flag n/bad: imported off: rules r: distributions d: rollout NaN is not between 0 and 100`,
			`flags n/good: created_at: "infinity" is not a time; the time of the import replaces it`,
			`variants w: updated_at: the year -43 is out of range; the time of the import replaces it`,
		},
	}
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		dialect := "mysql"
		if s.IsPostgres() {
			dialect = "postgres"
		}
		flipt := s.Empty(t)
		spoil(t, flipt, dialect, data, changes[dialect])
		source := harness.OpenStore(t, flipt)
		now := time.Unix(2, 0).UTC()
		content, err := fliptdb.Read(t.Context(), source.SQL(), source.Dialect(), fliptdb.Options{Damaged: fliptdb.TurnOff, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range content.Findings {
			got = append(got, f.String())
		}
		slices.Sort(got)
		if diff := cmp.Diff(wants[dialect], got); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		db := harness.OpenStore(t, s.Migrated(t))
		if err := content.Write(t.Context(), db, service.Write{}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		snapshot, _, err := db.Snapshot(t.Context(), "n", service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		want := []*guidon.Flag{
			{Key: "bad", Name: "bad", CreatedAt: at.Created, UpdatedAt: at.Updated},
			{Key: "good", CreatedAt: now, UpdatedAt: at.Updated, Variants: []*guidon.Variant{{ID: "w", Key: "w", CreatedAt: at.Created, UpdatedAt: now}}},
		}
		if diff := cmp.Diff(want, snapshot.Flags(), cmpopts.IgnoreFields(guidon.Flag{}, "Created")); diff != "" {
			t.Errorf("flags (-want +got):\n%s", diff)
		}
	})
}

// spoil stores the data and runs the statements in one session.
func spoil(t *testing.T, database, dialect string, data *fliptdbtest.Data, statements []string) {
	t.Helper()
	db, err := harness.OpenSQL(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := data.Store(t.Context(), db, dialect); err != nil {
		t.Fatal(err)
	}
	session, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, statement := range statements {
		if _, err := session.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
