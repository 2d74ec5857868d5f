package integration

import (
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/dbproc"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// TestStore runs the conformance suite over every kind of shared database.
func TestStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		storetest.Run(t, func(t *testing.T) guidon.Store { return openStore(t, s.migrated(t)) })
	})
}

// TestStoreMirror checks that what updates tell of their commits is what they did.
func TestStoreMirror(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		database := s.migrated(t)
		storetest.RunMirrored(t, openStore(t, database), openStore(t, database))
	})
}

// TestStoreStrict runs it through the cache that such databases get.
func TestStoreStrict(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *databaseServer) {
		storetest.Run(t, func(t *testing.T) guidon.Store {
			return cache.NewShared(openStore(t, s.migrated(t)), cache.Freshness{})
		})
	})
}

// TestStoreSerializable stands in for CockroachDB: its dialect, on a database
// that refuses with 40001 whatever could not have been run one after the other.
func TestStoreSerializable(t *testing.T) {
	storetest.Run(t, func(t *testing.T) guidon.Store { return openStore(t, serializable(t)) })
}

// TestSerializableContention: several processes change the same flag, each
// without knowing of the others.
func TestSerializableContention(t *testing.T) {
	proxy, database := newPGProxy(t, serializable(t))
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
	if proxy.retries.Load() == 0 {
		t.Error("the database asked for no retry")
	}
	t.Logf("%d retries for %d writes", proxy.retries.Load(), processes*writes)
}

// serializable returns the URL of a migrated database, by which PostgreSQL is
// taken for CockroachDB.
func serializable(t *testing.T) string {
	t.Helper()
	postgresServer.need(t)
	database := postgresServer.migrated(t)
	postgresServer.administer(t, "ALTER DATABASE "+databaseName(database)+" SET default_transaction_isolation = 'serializable'")
	_, rest, _ := strings.Cut(database, ":")
	return "cockroach:" + rest
}

// TestStorePgBouncer stands in for poolers of connections: nothing that a
// session keeps outlives its transaction.
func TestStorePgBouncer(t *testing.T) {
	pooler := pgBouncer(t)
	storetest.Run(t, func(t *testing.T) guidon.Store {
		return openStore(t, pooler.Database(databaseName(postgresServer.migrated(t))))
	})
}

// pgBouncer starts a pooler in front of PostgreSQL, which has one session for all
// transactions.
func pgBouncer(t *testing.T) *dbproc.Server {
	t.Helper()
	postgresServer.need(t)
	if postgresServer.private == nil {
		skip(t, "PgBouncer is put in front of a private PostgreSQL only")
	}
	pooler, err := dbproc.PgBouncer(t.Context(), postgresServer.private)
	if err != nil {
		skip(t, "%v", err)
	}
	t.Cleanup(func() { _ = pooler.Close() })
	return pooler
}
