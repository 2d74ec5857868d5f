package integration

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/integration/dbproc"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// TestStore runs the conformance suite over every kind of shared database.
func TestStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		storetest.Run(t, func(t *testing.T) service.Store { return openStore(t, s.migrated(t)) })
	})
}

// TestStoreMirror checks that the deltas that updates report match their commits.
func TestStoreMirror(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		database := s.migrated(t)
		storetest.RunMirrored(t, openStore(t, database), openStore(t, database))
	})
}

// TestStoreStrict runs the conformance suite through the cache that servers use.
func TestStoreStrict(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		storetest.Run(t, func(t *testing.T) service.Store {
			return cache.NewShared(openStore(t, s.migrated(t)), cache.Freshness{})
		})
	})
}

// TestStoreSerializable replaces a test with CockroachDB. It uses its dialect on a database
// that fails with 40001 all transactions that cannot be serialized.
func TestStoreSerializable(t *testing.T) {
	storetest.Run(t, func(t *testing.T) service.Store { return openStore(t, serializable(t)) })
}

// TestSerializableContention: several independent stores change the same flag.
func TestSerializableContention(t *testing.T) {
	proxy, database := newWire(t, serializable(t))
	const processes, writes = 4, 25
	var writing sync.WaitGroup
	first := openStore(t, database)
	putCounter(t, first)
	for range processes {
		c := counter{faulty: openStore(t, database)}
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
	if proxy.retries() == 0 {
		t.Error("the database required no retry")
	}
	t.Logf("%d retries for %d writes", proxy.retries(), processes*writes)
}

// serializable returns the URL of a migrated PostgreSQL database that is treated as
// CockroachDB.
func serializable(t *testing.T) string {
	t.Helper()
	postgresServer.need(t)
	database := postgresServer.migrated(t)
	postgresServer.administer(t, "ALTER DATABASE "+databaseName(database)+" SET default_transaction_isolation = 'serializable'")
	_, rest, _ := strings.Cut(database, ":")
	return "cockroach:" + rest
}

// TestStorePgBouncer covers connection poolers, with which no session state outlives a
// transaction.
func TestStorePgBouncer(t *testing.T) {
	pooler := pgBouncer(t)
	storetest.Run(t, func(t *testing.T) service.Store {
		return openStore(t, pooler.Database(databaseName(postgresServer.migrated(t))))
	})
}

// pgBouncer starts a pooler in front of PostgreSQL, with a single session for all
// transactions.
func pgBouncer(t *testing.T) *dbproc.Server {
	t.Helper()
	postgresServer.need(t)
	if postgresServer.private == nil {
		skip(t, "PgBouncer needs a private PostgreSQL")
	}
	pooler, err := dbproc.PgBouncer(t.Context(), postgresServer.private)
	if err != nil {
		skip(t, "%v", err)
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
