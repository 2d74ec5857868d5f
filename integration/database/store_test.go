package database

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// TestStore runs the conformance suite over every kind of shared database.
func TestStore(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		storetest.Run(t, func(t *testing.T) service.Store { return harness.OpenStore(t, s.Migrated(t)) })
	})
}

// TestStoreDatabase checks what the store has beyond that, also with the dialect of CockroachDB;
// see [TestStoreSerializable].
func TestStoreDatabase(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) { storetest.RunDatabase(t, s.Migrated) })
	t.Run("serializable", func(t *testing.T) { storetest.RunDatabase(t, serializable) })
}

// TestStoreAdditions checks that additions are refused until another process has applied their
// step, also with the dialect of CockroachDB; see [TestStoreSerializable].
func TestStoreAdditions(t *testing.T) {
	run := func(t *testing.T, database string) {
		s := harness.OpenStore(t, database)
		storetest.RunAdditions(t, s, s.SQL(), func(t *testing.T) {
			harness.Ends(t, harness.Command(t, database, "migrate", "additions"), true, "applied 9 additions")
		})
	}
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) { run(t, s.Migrated(t)) })
	t.Run("serializable", func(t *testing.T) { run(t, serializable(t)) })
}

// TestAuthenticationRows: PostgreSQL sends as many rows for one change as for any other,
// however many authentications there are.
func TestAuthenticationRows(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	writer := harness.OpenStore(t, database)
	put := func(first, count int) {
		t.Helper()
		err := writer.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
			for i := first; i < first+count; i++ {
				a := &service.Authentication{ID: fmt.Sprint(i), Method: service.MethodToken, TokenHash: fmt.Sprint("hash ", i)}
				if err := tx.PutAuthentication(ctx, a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(0, 1000)
	proxy, through := dbtest.NewProxy(t, database)
	reader := harness.OpenStore(t, through)
	held, err := reader.LoadAuthentications(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	put(1000, 1)
	before := proxy.Rows()
	set, err := reader.LoadAuthentications(t.Context(), held)
	if err != nil || set.ByID("1000") == nil {
		t.Fatalf("got %v, %v, want the new authentication", set, err)
	}
	// The current revision, the settings of the transaction, the same with its view, the
	// stamp of the held revision, the changed id, and its row.
	if got, want := proxy.Rows()-before, int64(6); got != want {
		t.Errorf("%d rows were read, want %d", got, want)
	}
}

// TestStoreStrict runs the conformance suite through the cache that servers use.
func TestStoreStrict(t *testing.T) {
	harness.AnyDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		storetest.RunAgain(t, func(t *testing.T) service.Store {
			return cache.NewShared(harness.OpenStore(t, s.Migrated(t)), cache.Freshness{})
		})
	})
}

// TestStoreSerializable replaces a test with CockroachDB. It uses its dialect on a database
// that fails with 40001 all transactions that cannot be serialized.
func TestStoreSerializable(t *testing.T) {
	storetest.RunAgain(t, func(t *testing.T) service.Store { return harness.OpenStore(t, serializable(t)) })
}

// TestSerializableContention: several independent stores change the same flag.
func TestSerializableContention(t *testing.T) {
	proxy, database := dbtest.NewProxy(t, serializable(t))
	const processes, writes = 4, 25
	var writing sync.WaitGroup
	first := harness.OpenStore(t, database)
	putCounter(t, first)
	for range processes {
		c := counter{faulty: harness.OpenStore(t, database)}
		writing.Go(func() {
			for range writes {
				if _, err := c.count(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	c := counter{straight: first}
	if got, want := c.stored(t), processes*writes; got != want {
		t.Errorf("counted to %d, want %d", got, want)
	}
	if proxy.Retries() == 0 {
		t.Error("the database required no retry")
	}
	t.Logf("%d retries for %d writes", proxy.Retries(), processes*writes)
}

// serializable returns the URL of a migrated PostgreSQL database that is treated as
// CockroachDB.
func serializable(t testing.TB) string {
	t.Helper()
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	makeSerializable(t, database)
	_, rest, _ := strings.Cut(database, ":")
	return "cockroach:" + rest
}

// makeSerializable makes serializable the default for transactions in the PostgreSQL
// database.
func makeSerializable(t testing.TB, database string) {
	t.Helper()
	db := harness.OpenStore(t, database).SQL()
	harness.Execute(t, db, "ALTER DATABASE "+databaseName(database)+" SET default_transaction_isolation = 'serializable'")
}

// TestStorePgBouncer covers connection poolers, with which no session state outlives a
// transaction.
func TestStorePgBouncer(t *testing.T) {
	pooler := pgBouncer(t)
	storetest.RunAgain(t, func(t *testing.T) service.Store {
		return harness.OpenStore(t, pooler.Database(databaseName(harness.Postgres.Migrated(t))))
	})
}

// pgBouncer starts a pooler in front of PostgreSQL, with a single session for all
// transactions.
func pgBouncer(t *testing.T) *dbtest.Server {
	t.Helper()
	harness.Postgres.Need(t)
	if harness.Postgres.Private == nil {
		harness.Skip(t, "PgBouncer needs a private PostgreSQL")
	}
	pooler, err := dbtest.PgBouncer(t.Context(), harness.Postgres.Private)
	if err != nil {
		harness.Skip(t, "%v", err)
	}
	t.Cleanup(func() { _ = pooler.Close() })
	return pooler
}

// databaseName returns the name of the database in the URL.
func databaseName(database string) string {
	u, err := url.Parse(database)
	if err != nil {
		panic(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}
