package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate"
)

// allSteps are the steps by number, createSteps those by the order in which a new database gets
// them.
var (
	allSteps    = []string{"tables", "seed", "leases", "readers", "sign_in", "change_notes", "past_states", "horizons", "additions", "evaluations", "change_events", "webhooks", "favorites"}
	createSteps = append([]string{"additions"}, slices.Delete(slices.Clone(allSteps), 8, 9)...)
)

func stepNames(steps []migrate.Step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return names
}

func countRows(t *testing.T, db *sql.DB, query string) int {
	t.Helper()
	var n int
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMigrateManyAtOnce: ten concurrent migrations of an empty database apply each step
// exactly once in total.
func TestMigrateManyAtOnce(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) { migrateAtOnce(t, s.Empty(t)) })
}

// TestMigrateSerializable replaces a test with CockroachDB. It uses its dialect and schema
// on a database that fails with 40001 all transactions that cannot be serialized.
func TestMigrateSerializable(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Empty(t)
	makeSerializable(t, database)
	_, rest, _ := strings.Cut(database, ":")
	migrateAtOnce(t, "cockroachdb:"+rest)
}

// TestMigratePooled migrates through a pooler that does not keep session state.
func TestMigratePooled(t *testing.T) {
	pooler := pgBouncer(t)
	migrateAtOnce(t, pooler.Database(databaseName(harness.Postgres.Empty(t))))
}

// migrateAtOnce runs ten concurrent migrations of the empty database.
func migrateAtOnce(t *testing.T, database string) {
	t.Helper()
	atOnce(t, database, migrate.Up, createSteps)
	if n := countRows(t, harness.OpenStore(t, database).SQL(), "SELECT COUNT(*) FROM changes"); n != 1 {
		t.Errorf("%d change records, want that of the first namespace", n)
	}
}

// atOnce runs ten concurrent migrations, which must apply the steps in total.
func atOnce(
	t *testing.T, database string, up func(ctx context.Context, db *sql.DB, dialect string) ([]migrate.Step, error), want []string,
) {
	t.Helper()
	var mu sync.Mutex
	var applied []string
	var wait sync.WaitGroup
	for range 10 {
		db := harness.OpenStore(t, database)
		wait.Go(func() {
			steps, err := up(t.Context(), db.SQL(), db.Dialect())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			applied = append(applied, stepNames(steps)...)
		})
	}
	wait.Wait()
	if diff := cmp.Diff(want, applied); diff != "" {
		t.Errorf("applied in total (-want +got):\n%s", diff)
	}
}

// TestMigrateAdditions: ten concurrent requests for the optional step of an existing database
// apply it once, and nothing else does.
func TestMigrateAdditions(t *testing.T) {
	additions := func(t *testing.T, database string) {
		db := harness.OpenStore(t, database)
		harness.Execute(t, db.SQL(), "DELETE FROM schema_steps WHERE version_id = 9")
		if steps, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil || len(steps) != 0 {
			t.Errorf("up: got %+v, %v, want no steps", steps, err)
		}
		harness.Start(t, database)
		if n := countRows(t, db.SQL(), "SELECT COUNT(*) FROM schema_steps WHERE version_id = 9"); n != 0 {
			t.Error("a server that starts has applied the step")
		}
		atOnce(t, database, migrate.Additions, []string{"additions"})
	}
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) { additions(t, s.Migrated(t)) })
	t.Run("serializable", func(t *testing.T) { additions(t, serializable(t)) })
}

// TestMigrateProcesses is TestMigrateManyAtOnce with processes of the binary. It also
// checks their output.
func TestMigrateProcesses(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Empty(t)
		var mu sync.Mutex
		var lines []string
		var wait sync.WaitGroup
		for range 10 {
			c := harness.Command(t, database, "migrate", "up")
			wait.Go(func() {
				out, err := c.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, string(out))
			})
		}
		waiting, waiter := make(chan error, 1), harness.Command(t, database, "migrate", "wait", "--timeout", harness.Patience.String())
		go func() { waiting <- waiter.Run() }()
		wait.Wait()
		if err := <-waiting; err != nil {
			t.Errorf("migrate wait: %v", err)
		}
		all := strings.Join(lines, "")
		for i, name := range allSteps {
			if n := strings.Count(all, fmt.Sprintf("applied %d %s\n", i+1, name)); n != 1 {
				t.Errorf("%q was applied %d times, want once:\n%s", name, n, all)
			}
		}
		if out := harness.Ends(t, harness.Command(t, database, "migrate", "status"), true, "readers"); strings.Contains(out, "pending") {
			t.Errorf("status: got\n%s", out)
		}
	})
}

// TestMigrateReadOnly: Status, Check and Wait create nothing in an empty database.
func TestMigrateReadOnly(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Empty(t))
		steps, err := migrate.Status(t.Context(), db.SQL(), db.Dialect())
		if err != nil || !cmp.Equal(stepNames(steps), allSteps) || !steps[0].AppliedAt.IsZero() {
			t.Errorf("status: got %+v, %v, want all steps pending", steps, err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for name, err := range map[string]error{
			"Check": migrate.Check(t.Context(), db.SQL(), db.Dialect()),
			"Wait":  migrate.Wait(short, db.SQL(), db.Dialect()),
		} {
			if !errors.Is(err, guidon.Unavailable) || !strings.Contains(guidon.PublicMessage(err), "guidon migrate up") {
				t.Errorf("%s: got %v, want Unavailable with the command to run", name, err)
			}
		}
		if names := tablesOf(t, db.SQL(), s); len(names) != 0 {
			t.Errorf("the tables %q were created", names)
		}
	})
}

// TestMigrateWait: Wait returns when another process has migrated the database.
func TestMigrateWait(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Empty(t))
		done := make(chan error, 1)
		go func() { done <- migrate.Wait(t.Context(), db.SQL(), db.Dialect()) }()
		if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestMigrateNewer: a database that was migrated by a newer release is not used.
func TestMigrateNewer(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		db := harness.OpenStore(t, database)
		harness.Execute(t, db.SQL(), "INSERT INTO schema_steps (version_id, applied_at) VALUES (99, 1)")
		_, upErr := migrate.Up(t.Context(), db.SQL(), db.Dialect())
		for name, err := range map[string]error{
			"Up":    upErr,
			"Check": migrate.Check(t.Context(), db.SQL(), db.Dialect()),
			"Wait":  migrate.Wait(t.Context(), db.SQL(), db.Dialect()),
		} {
			if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(guidon.PublicMessage(err), "step 99") {
				t.Errorf("%s: got %v, want FailedPrecondition that names step 99", name, err)
			}
		}
		harness.Ends(t, harness.Command(t, database, "server"), false, "step 99")
	})
}

// TestMigrateForeign: tables of another program that have the same names are not modified.
func TestMigrateForeign(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Empty(t))
		harness.Execute(t, db.SQL(), "CREATE TABLE flags (id INTEGER)")
		_, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
		if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(guidon.PublicMessage(err), `table "flags"`) {
			t.Errorf("got %v, want FailedPrecondition that names the table", err)
		}
		if diff := cmp.Diff([]string{"flags"}, tablesOf(t, db.SQL(), s)); diff != "" {
			t.Errorf("tables (-want +got):\n%s", diff)
		}
	})
}

// TestMigrateInterrupted: a step that was interrupted at any statement is completed by the
// next migration.
func TestMigrateInterrupted(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Migrated(t))
		want := schema(t, db.SQL(), s)
		drops := [][]string{
			{"change_cursors", "leases"},
			{"favorites", "webhooks", "webhook_states", "webhook_deliveries", "evaluation_minutes", "evaluation_series", "evaluation_flags", "evaluation_marks", "change_horizons", "change_notes", "change_deletions", "change_addresses", "secrets", "spent", "authentication_subjects", "bindings", "change_cursors", "change_readers", "leases", "authentications", "changes"},
			{"favorites", "webhooks", "webhook_states", "webhook_deliveries", "evaluation_minutes", "evaluation_series", "evaluation_flags", "evaluation_marks", "change_horizons", "change_notes", "change_deletions", "change_addresses", "secrets", "spent", "authentication_subjects", "bindings", "change_cursors", "change_readers", "leases", "authentications", "changes", "segments", "flags", "namespaces"},
		}
		if s.IsPostgres() {
			harness.Execute(t, db.SQL(), "DROP INDEX changes_by_actor")
		}
		for i, tables := range drops {
			for _, table := range tables {
				harness.Execute(t, db.SQL(), "DROP TABLE IF EXISTS "+table)
			}
			harness.Execute(t, db.SQL(), "DELETE FROM schema_steps")
			if i == 0 {
				// Step 1 was complete but not recorded yet, and the seed does not exist.
				harness.Execute(t, db.SQL(), "DELETE FROM namespaces")
				harness.Execute(t, db.SQL(), "DELETE FROM changes")
			}
			if i == 1 {
				harness.Execute(t, db.SQL(), "DELETE FROM namespaces")
			}
			steps, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
			if err != nil || !cmp.Equal(stepNames(steps), createSteps) {
				t.Fatalf("without %q: got %+v, %v", tables, steps, err)
			}
			if diff := cmp.Diff(want, schema(t, db.SQL(), s)); diff != "" {
				t.Errorf("without %q: schema (-want +got):\n%s", tables, diff)
			}
		}
	})
}

// TestMigratePrevious: the schema of the previous release gets the tables of the later steps,
// and a reader gets the records that were written before.
func TestMigratePrevious(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Migrated(t))
		for _, statement := range []string{"DROP TABLE favorites", "DROP TABLE webhooks", "DROP TABLE webhook_states", "DROP TABLE webhook_deliveries", "DROP TABLE evaluation_minutes", "DROP TABLE evaluation_series", "DROP TABLE evaluation_flags", "DROP TABLE evaluation_marks", "DROP TABLE change_horizons", "DROP TABLE change_notes", "DROP TABLE change_deletions", "DROP TABLE change_addresses", "DROP TABLE secrets", "DROP TABLE spent", "DROP TABLE authentication_subjects", "DROP TABLE bindings", "DROP TABLE change_cursors", "DROP TABLE change_readers", "DELETE FROM schema_steps WHERE version_id >= 4"} {
			harness.Execute(t, db.SQL(), statement)
		}
		oldChanges(t, db, 3)
		steps, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
		if err != nil || !cmp.Equal(stepNames(steps), []string{"readers", "sign_in", "change_notes", "past_states", "horizons", "evaluations", "change_events", "webhooks", "favorites"}) {
			t.Fatalf("got %+v, %v, want the later steps", steps, err)
		}
		if err := errors.Join(db.RegisterReader(t.Context(), "r"), db.RewindReader(t.Context(), "r", guidon.DefaultNamespace, 1)); err != nil {
			t.Fatal(err)
		}
		changed, err := db.ChangedNamespaces(t.Context(), "r", "", 10)
		if err != nil || len(changed) != 1 || changed[0].Revisions != 4 {
			t.Errorf("got %+v, %v, want all revisions of the default namespace", changed, err)
		}
	})
}

// TestMigrateTakesOver: the lock of a killed process is taken over after a while.
func TestMigrateTakesOver(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		t.Parallel()
		db := harness.OpenStore(t, s.Empty(t))
		harness.Execute(t, db.SQL(), "CREATE TABLE schema_lock (lock_name VARCHAR(64) NOT NULL, holder VARCHAR(64) NOT NULL, beats BIGINT NOT NULL, PRIMARY KEY (lock_name))")
		harness.Execute(t, db.SQL(), "INSERT INTO schema_lock (lock_name, holder, beats) VALUES ('schema', 'KILLED', 7)")
		start := time.Now()
		steps, err := migrate.Up(t.Context(), db.SQL(), db.Dialect())
		if err != nil || !cmp.Equal(stepNames(steps), createSteps) {
			t.Errorf("got %+v, %v", steps, err)
		}
		if d := time.Since(start); d < 10*time.Second {
			t.Errorf("the lock was taken over after %s, when its holder could still be running", d)
		}
	})
}
