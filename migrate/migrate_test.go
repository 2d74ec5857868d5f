package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

var update = flag.Bool("update", false, "update the golden files")

func open(t testing.TB, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// dropLatest takes back the steps after horizons.
const dropLatest = "DROP TABLE favorites; DROP TABLE webhooks; DROP TABLE webhook_states; DROP TABLE webhook_deliveries; DROP TABLE evaluation_minutes; DROP TABLE evaluation_series; DROP TABLE evaluation_flags; DROP TABLE evaluation_marks; "

// dropEvents takes back the step change_events, without which no release that knows it can write.
const dropEvents = "DROP INDEX changes_by_event; DROP INDEX changes_by_author; DROP INDEX changes_by_moment; ALTER TABLE changes DROP COLUMN event; " +
	"CREATE INDEX changes_by_time ON changes (namespace_key, happened_at); "

func names(steps []migrate.Step) []string {
	var list []string
	for _, s := range steps {
		list = append(list, s.Name)
	}
	return list
}

func TestUp(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	mandatory := []string{"tables", "seed", "leases", "readers", "sign_in", "change_notes", "past_states", "horizons", "evaluations", "change_events", "webhooks", "favorites"}
	want := append([]string{"additions"}, mandatory...)
	all, err := migrate.Status(t.Context(), db.SQL(), db.Dialect())
	if err != nil || !cmp.Equal(names(all), slices.Insert(slices.Clone(mandatory), 8, "additions")) || !all[0].AppliedAt.IsZero() {
		t.Fatalf("status of an empty database: got %+v, %v", all, err)
	}
	err = migrate.Check(t.Context(), db.SQL(), db.Dialect())
	if !errors.Is(err, guidon.Unavailable) || !strings.Contains(guidon.PublicMessage(err), "guidon migrate up") {
		t.Errorf("check of an empty database: got %v, want an error that names the command to run", err)
	}
	if n := count(t, db.SQL(), "SELECT COUNT(*) FROM sqlite_master"); n != 0 {
		t.Errorf("Status and Check created %d objects in an empty database", n)
	}
	applied, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	if err != nil || !cmp.Equal(names(applied), want) {
		t.Fatalf("got %+v, %v, want %q", applied, err, want)
	}
	again, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	if err != nil || len(again) != 0 {
		t.Errorf("second call: got %+v, %v, want no steps", again, err)
	}
	if err := migrate.Check(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Errorf("check: %v", err)
	}
	all, err = migrate.Status(t.Context(), db.SQL(), db.Dialect())
	if err != nil || len(all) != len(want) || all[0].AppliedAt.IsZero() || all[1].AppliedAt.IsZero() {
		t.Errorf("status: got %+v, %v", all, err)
	}
}

// A database of the previous release gets the tables of the later steps, and a reader gets the
// records that were written before.
func TestUpFromPrevious(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), dropLatest+"DROP TABLE change_horizons; DROP TABLE change_notes; DROP TABLE change_deletions; DROP INDEX changes_by_deletion; DROP TABLE change_addresses; DROP TABLE bindings; DROP TABLE authentication_subjects; DROP TABLE spent; DROP TABLE secrets; DROP TABLE change_cursors; DROP TABLE change_readers; DELETE FROM schema_steps WHERE version_id >= 4"); err != nil {
		t.Fatal(err)
	}
	_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "a"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), dropEvents); err != nil {
		t.Fatal(err)
	}
	applied, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	if err != nil || !cmp.Equal(names(applied), []string{"readers", "sign_in", "change_notes", "past_states", "horizons", "evaluations", "change_events", "webhooks", "favorites"}) {
		t.Fatalf("got %+v, %v, want the later steps", applied, err)
	}
	if err := errors.Join(db.RegisterReader(t.Context(), "r"), db.RewindReader(t.Context(), "r", guidon.DefaultNamespace, 1)); err != nil {
		t.Fatal(err)
	}
	changed, err := db.ChangedNamespaces(t.Context(), "r", "", 10)
	if err != nil || len(changed) != 1 || changed[0].Revisions != 2 {
		t.Errorf("got %+v, %v, want both revisions of the default namespace", changed, err)
	}
}

// Each older schema gets the later steps, and the records that were written with it have
// neither message nor reason.
func TestUpFromEveryStep(t *testing.T) {
	for step, drop := range map[int]string{
		3: "DROP TABLE change_addresses; DROP TABLE bindings; DROP TABLE authentication_subjects; DROP TABLE spent; DROP TABLE secrets; DROP TABLE change_cursors; DROP TABLE change_readers;",
		4: "DROP TABLE change_addresses; DROP TABLE bindings; DROP TABLE authentication_subjects; DROP TABLE spent; DROP TABLE secrets;",
		5: "",
	} {
		db := open(t, filepath.Join(t.TempDir(), "a.db"))
		if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
			t.Fatal(err)
		}
		all, err := migrate.Status(t.Context(), db.SQL(), db.Dialect())
		if err != nil {
			t.Fatal(err)
		}
		older := fmt.Sprintf("%s %s DROP TABLE change_notes; DROP TABLE change_horizons; DROP TABLE change_deletions; DROP INDEX changes_by_deletion; DELETE FROM schema_steps WHERE version_id > %d", dropLatest, drop, step)
		if _, err := db.SQL().ExecContext(t.Context(), older); err != nil {
			t.Fatal(err)
		}
		put := func(key string, w service.Write) {
			t.Helper()
			if _, err := db.Update(t.Context(), "default", w, func(ctx context.Context, tx service.Tx) error {
				return tx.PutFlag(ctx, &guidon.Flag{Key: key})
			}); err != nil {
				t.Fatal(err)
			}
		}
		put("old", service.Write{})
		if _, err := db.SQL().ExecContext(t.Context(), dropEvents); err != nil {
			t.Fatal(err)
		}
		if applied, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil || len(applied) != len(all)-1-step {
			t.Fatalf("from step %d: got %+v, %v", step, applied, err)
		}
		put("new", service.Write{Message: "why", Reason: change.ImportReason()})
		records, err := db.Changes(t.Context(), change.Query{Namespace: "default", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range records {
			got = append(got, fmt.Sprintf("%s %q %q", c.Key, c.Message, c.Reason))
		}
		if diff := cmp.Diff([]string{`new "why" "import"`, `old "" ""`, `default "" ""`}, got); diff != "" {
			t.Errorf("from step %d (-want +got):\n%s", step, diff)
		}
	}
}

// TestHorizons: namespaces that had lost change records before the step have no earlier
// states, and only these.
func TestHorizons(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	for namespace, loss := range map[string]string{
		"whole":    "revision = 99",
		"revision": "revision = 3",
		"seq":      "revision = 2 AND seq = 0",
		"create":   "revision = 2 AND seq = 1",
	} {
		for _, fn := range []func(ctx context.Context, tx service.Tx) error{
			func(ctx context.Context, tx service.Tx) error {
				return tx.PutNamespace(ctx, &guidon.Namespace{Key: namespace})
			},
			func(ctx context.Context, tx service.Tx) error {
				return errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: "a"}), tx.PutFlag(ctx, &guidon.Flag{Key: "b"}))
			},
			func(ctx context.Context, tx service.Tx) error {
				return tx.PutFlag(ctx, &guidon.Flag{Key: "b", Name: "B"})
			},
			func(ctx context.Context, tx service.Tx) error { return tx.DeleteFlag(ctx, "b") },
		} {
			if _, err := db.Update(t.Context(), namespace, service.Write{}, fn); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.SQL().ExecContext(t.Context(), "DELETE FROM changes WHERE namespace_key = ? AND "+loss, namespace); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.SQL().ExecContext(t.Context(), dropLatest+dropEvents+"DROP TABLE change_horizons; DROP TABLE change_deletions; DROP INDEX changes_by_deletion; DELETE FROM schema_steps WHERE version_id >= 7"); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	const old = "SELECT COUNT(*) FROM change_horizons WHERE revision = 4 AND happened_at > 0 AND namespace_key IN ('revision', 'seq', 'create')"
	if n, all := count(t, db.SQL(), old), count(t, db.SQL(), "SELECT COUNT(*) FROM change_horizons"); n != 3 || all != 3 {
		t.Errorf("got %d of 3 namespaces, and %d in all", n, all)
	}
	// Positions of objects that were deleted before the step are those of their creation.
	shot, err := db.SnapshotAt(t.Context(), "whole", service.Moment{Revision: 3}, service.Demand{}, nil)
	if err != nil || shot.Flag("b").Name != "B" || shot.Flag("b").Created != (guidon.Position{Revision: 2, Sequence: 1}) {
		t.Errorf("got %+v, %v, want flag b as created by 2.1", shot, err)
	}
	_, err = db.SnapshotAt(t.Context(), "create", service.Moment{Revision: 3}, service.Demand{}, nil)
	if !errors.Is(err, guidon.NotFound) || !strings.Contains(err.Error(), "the oldest one is revision 4") {
		t.Errorf("got %v, want the oldest state", err)
	}
}

func count(t testing.TB, db *sql.DB, query string) int {
	t.Helper()
	var n int
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNewerDatabaseIsRejected(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), "INSERT INTO schema_steps (version_id, is_applied) VALUES (99, 1)"); err != nil {
		t.Fatal(err)
	}
	_, upErr := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	for name, err := range map[string]error{"Up": upErr, "Check": migrate.Check(t.Context(), db.SQL(), db.Dialect())} {
		if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(guidon.PublicMessage(err), "step 99") {
			t.Errorf("%s: got %v, want an error that names step 99", name, err)
		}
	}
	all, err := migrate.Status(t.Context(), db.SQL(), db.Dialect())
	if err != nil || len(all) < 2 || all[len(all)-1].Version != 99 || all[len(all)-1].Name != "" {
		t.Errorf("status: got %+v, %v, want the unknown step too", all, err)
	}
}

// A database with a table of another program is rejected, even if the table has the name
// of ours.
func TestForeignDatabaseIsRejected(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := db.SQL().ExecContext(t.Context(), "CREATE TABLE flags (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	_, upErr := migrate.Up(t.Context(), db.SQL(), db.Dialect())
	for name, err := range map[string]error{
		"Up":    upErr,
		"Check": migrate.Check(t.Context(), db.SQL(), db.Dialect()),
		"Wait":  migrate.Wait(t.Context(), db.SQL(), db.Dialect()),
	} {
		if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(guidon.PublicMessage(err), `table "flags"`) {
			t.Errorf("%s: got %v, want an error that names the table", name, err)
		}
	}
	if n := count(t, db.SQL(), "SELECT COUNT(*) FROM sqlite_master"); n != 1 {
		t.Errorf("the database has %d objects afterwards, want the one table", n)
	}
}

// Wait returns when the last step has been applied or the context ends.
func TestWait(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := migrate.Wait(short, db.SQL(), db.Dialect()); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("got %v, want the error about pending steps", err)
	}
	done := make(chan error, 1)
	go func() { done <- migrate.Wait(t.Context(), db.SQL(), db.Dialect()) }()
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestUnknownDialect(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), "oracle"); err == nil {
		t.Error("an unknown dialect was accepted")
	}
}

// The seed has the exact form in which the store writes it (contract 4.7), so writing it
// again changes nothing.
func TestSeedIsInStoredForm(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	revision, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		n, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		return tx.PutNamespace(ctx, n)
	})
	if err != nil || revision != 1 {
		t.Errorf("got revision %d, %v, want 1", revision, err)
	}
	got, err := db.Changes(t.Context(), change.Query{Namespace: "default", Limit: 10})
	if err != nil || len(got) != 1 || got[0].Actor.ID != "system:migrate" || got[0].Action != change.ActionCreate {
		t.Errorf("got records %+v, %v", got, err)
	}
}

// The golden file is the schema after all steps, for reviews of new steps.
func TestGoldenSchema(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	rows, err := db.SQL().QueryContext(t.Context(),
		"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var text strings.Builder
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			t.Fatal(err)
		}
		text.WriteString(strings.ReplaceAll(statement, "\t", "    ") + ";\n\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/sqlite.schema.sql"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("the schema differs from %s; run go test ./migrate -update (-golden +got):\n%s", golden, diff)
	}
}
