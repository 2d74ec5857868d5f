package database

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// oldChanges creates versions of a flag, and makes all change records old.
func oldChanges(t *testing.T, db *store.DB, versions int) {
	t.Helper()
	for i := range versions {
		_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			return tx.PutFlag(ctx, &guidon.Flag{Key: "old", Name: fmt.Sprint(i)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	harness.Execute(t, db.SQL(), "UPDATE changes SET happened_at = 1")
}

// cleanup returns the command, with a retention of one day.
func cleanup(t *testing.T, database string) *exec.Cmd {
	t.Helper()
	c := harness.Command(t, database, "cleanup", "--output=json")
	c.Env = append(c.Env, "GUIDON_CHANGES_RETENTION=24h")
	return c
}

// cleaned is the output of the command.
type cleaned struct {
	Tokens, Changes int
	More            bool
	Skipped         []string
}

// newestOnly fails the test unless only the newest record of each object is left, that
// is, one of the namespace and one of the flag.
func newestOnly(t *testing.T, db *store.DB, name string) {
	t.Helper()
	if n := countRows(t, db.SQL(), "SELECT COUNT(*) FROM changes"); n != 2 {
		t.Errorf("%d records are left, want 2", n)
	}
	changes, err := db.Changes(t.Context(), change.Query{Namespace: "default", Key: "old", Limit: 10})
	if err != nil || len(changes) != 1 {
		t.Fatalf("got %d records of the flag, %v, want the newest", len(changes), err)
	}
	var flag guidon.Flag
	if err := json.Unmarshal(changes[0].After, &flag); err != nil || flag.Name != name {
		t.Errorf("the record left is that of version %q, %v, want %q", flag.Name, err, name)
	}
}

// TestCleanup: if several processes clean up concurrently, each record is deleted and
// counted by exactly one.
func TestCleanup(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		db := harness.OpenStore(t, database)
		oldChanges(t, db, 300)
		var mu sync.Mutex
		var total cleaned
		var wait sync.WaitGroup
		for range 4 {
			c := cleanup(t, database)
			wait.Go(func() {
				out, err := c.Output()
				var result cleaned
				if err == nil {
					err = json.Unmarshal(out, &result)
				}
				if err != nil {
					t.Errorf("%v: %s", err, out)
				}
				mu.Lock()
				defer mu.Unlock()
				total.Changes += result.Changes
			})
		}
		wait.Wait()
		if diff := cmp.Diff(cleaned{Changes: 299}, total); diff != "" {
			t.Errorf("total deleted (-want +got):\n%s", diff)
		}
		newestOnly(t, db, "299")
	})
}

// TestCleanupKilled: a killed run has deleted whole batches only, and the next run deletes
// the rest once the lease has expired.
func TestCleanupKilled(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		db := harness.OpenStore(t, database)
		oldChanges(t, db, 500)
		c := cleanup(t, database)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(harness.Patience); countRows(t, db.SQL(), "SELECT COUNT(*) FROM changes") == 501; {
			if time.Now().After(deadline) {
				t.Fatal("nothing was deleted")
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		harness.Execute(t, db.SQL(), "UPDATE leases SET expires_at = 1") // as if a minute had passed
		if out, err := cleanup(t, database).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		newestOnly(t, db, "499")
	})
}

// TestCleanupRows: how many rows a cleanup reads for each record that it deletes does not
// depend on how many records there are.
func TestCleanupRows(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database, _ := imported(t, s)
		db, err := store.Open(t.Context(), database, store.Options{MaxOpenConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		importFlags(t, db, "changed")
		importFlags(t, db, "changed again")
		before := rowsRead(t, db.SQL(), s)
		deleted, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 1_000_000)
		if err != nil || deleted != 2*importedFlags {
			t.Errorf("deleted %d records, %v, want %d", deleted, err, 2*importedFlags)
		}
		if read, limit := rowsRead(t, db.SQL(), s)-before, int64(40*3*importedFlags); read > limit {
			t.Errorf("read %d rows, want at most %d", read, limit)
		}
	})
}
