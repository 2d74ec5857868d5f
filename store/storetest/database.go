package storetest

import (
	"testing"

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
