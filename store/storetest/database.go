package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

// RunDatabase checks what a [store.DB] has beyond [service.Store]. fresh must return the URL of
// a database in its seed state, and remove it with t.Cleanup. It is called once for each subtest.
func RunDatabase(t *testing.T, fresh func(t testing.TB) string) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, s *store.DB)
	}{
		{"Unreadable", testUnreadable},
		{"LoadEveryChange", testLoadEveryChange},
		{"LoadOneOfMany", testLoadOneOfMany},
		{"LoadManyChanges", testLoadManyChanges},
		{"LoadConcurrentWriters", testLoadConcurrentWriters},
		{"LoadRestoredBackup", testLoadRestoredBackup},
		{"LoadEarlierRelease", testLoadEarlierRelease},
		{"RegisterReader", testRegisterReader},
		{"ReaderLimit", testReaderLimit},
		{"ReaderStart", testReaderStart},
		{"ChangedNamespaces", testChangedNamespaces},
		{"ChangedNamespacePages", testChangedNamespacePages},
		{"AdvanceReader", testAdvanceReader},
		{"AdvanceRaces", testAdvanceRaces},
		{"RemoveReader", testRemoveReader},
		{"ReaderLag", testReaderLag},
		{"ReaderRetention", testReaderRetention},
		{"ReaderRetentionOfDeleted", testReaderRetentionOfDeleted},
		{"RestoredLog", testRestoredLog},
		{"ReaderRetentionRaces", testReaderRetentionRaces},
		{"Favorites", testFavorites},
		{"TooManyFavorites", testTooManyFavorites},
		{"WebhookLifeCycle", testWebhookLifeCycle},
		{"WebhookAttempts", testWebhookAttempts},
		{"WebhookDeliveries", testDeliveries},
		{"RewindReader", testRewindReader},
		{"Revisions", testRevisions},
		{"CountSeries", testSeries},
		{"CountMinutes", testMinutes},
		{"CountReports", testReports},
		{"CountRetention", testRetention},
		{"CountPause", testPause},
		{"CountWrongClocks", testWrongClocks},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t, fresh(t), store.Options{})) })
	}
	for _, part := range []struct {
		name string
		test func(t *testing.T, both [2]*store.DB) // two instances on the same database
	}{
		{"Mirror", testMirror},
		{"Spend", testSpend},
		{"SpendInTransaction", testSpendInTransaction},
		{"SpendOnce", testSpendOnce},
		{"DeleteSpent", testDeleteSpent},
		{"Secrets", testSecrets},
		{"AddSecretOnce", testAddSecretOnce},
		{"IndexOfOwners", testIndexOfOwners},
	} {
		t.Run(part.name, func(t *testing.T) {
			database := fresh(t)
			part.test(t, [2]*store.DB{open(t, database, store.Options{}), open(t, database, store.Options{})})
		})
	}
	t.Run("Trace", func(t *testing.T) { testTrace(t, fresh(t)) })
}

func open(t testing.TB, database string, options store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), database, options)
	mustSucceed(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// wantRows checks how many rows the table has.
func wantRows(t testing.TB, s *store.DB, table string, want int) {
	t.Helper()
	var got int
	mustSucceed(t, s.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&got))
	wantEqual(t, "rows of "+table, want, got)
}

// NewSQLite returns a store on a new SQLite file in its seed state. It is closed at the end of
// the test.
func NewSQLite(t testing.TB) *store.DB {
	t.Helper()
	return open(t, "sqlite:"+NewSQLiteFile(t), store.Options{})
}

// NewSQLiteFile returns the path of a new SQLite file in its seed state.
func NewSQLiteFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guidon.db")
	WriteSQLiteFile(t, path)
	return path
}

// WriteSQLiteFile writes an SQLite file in its seed state. Only the first one of a process is
// made by the schema steps, which take half a second with the race detector.
func WriteSQLiteFile(t testing.TB, path string) {
	t.Helper()
	content, err := seedFile()
	mustSucceed(t, err)
	mustSucceed(t, os.WriteFile(path, content, 0o600))
}

// seedFile returns the content of an SQLite file in its seed state.
var seedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "guidon-seed-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "guidon.db")
	db, err := store.Open(context.Background(), "sqlite:"+path, store.Options{})
	if err != nil {
		return nil, err
	}
	_, err = migrate.Up(context.Background(), db.SQL(), db.Dialect())
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // #nosec G304 -- our own
})

// testTrace checks what a store says about its statements: their texts without values, and errors.
func testTrace(t *testing.T, database string) {
	var texts []string
	var failed int
	recorded := true
	systems := map[string]bool{}
	s := open(t, database, store.Options{Trace: func(_ context.Context, system string) func(string, error) {
		systems[system] = true
		if !recorded {
			return nil
		}
		return func(text string, err error) {
			texts = append(texts, text)
			if err != nil {
				failed++
			}
		}
	}})
	update(t, s, "default", putObjects(&guidon.Flag{Key: "secret-flag", Name: "secret-name"}))
	snapshot(t, s, "default")
	if len(systems) != 1 || failed > 0 {
		t.Errorf("got %d failures, systems %v", failed, systems)
	}
	for _, text := range texts {
		if strings.Contains(text, "secret") {
			t.Errorf("a value is in %q", text)
		}
	}
	for _, want := range []string{"UPDATE namespaces SET revision", "INSERT INTO changes", "COMMIT", "SELECT"} {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("no text has %s: %q", want, texts)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if s.Ping(ended) == nil {
			t.Error("got no error from a query whose context has ended")
		}
		recorded = false
	}
	if failed != 1 {
		t.Errorf("%d errors are reported, want 1", failed)
	}
}
