package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

const (
	// requestTimeout is the configured timeout of the servers in tests with an unavailable
	// database.
	requestTimeout = 3 * time.Second
)

var failingFast = "GUIDON_SERVER_REQUEST_TIMEOUT=" + requestTimeout.String()

// TestDatabaseKilled kills the database of three writing instances and restarts it, three
// times.
func TestDatabaseKilled(t *testing.T) {
	for _, s := range harness.PrivateServers {
		t.Run(s.Name, func(t *testing.T) {
			process, database := harness.OwnDatabase(t, s)
			ledger := newLedger()
			c := startCluster(t, instances, database, failingFast)
			w := startLoad(t, c, ledger, 9)
			for range 3 {
				await(t, 40, "writes", w.acknowledged)
				process.Kill()
				await(t, 3, "rejected writes", w.failed)
				if err := process.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			await(t, 40, "writes", w.acknowledged)
			w.stop()
			if slowest := time.Duration(w.slowest.Load()); slowest > requestTimeout+harness.Slack {
				t.Errorf("a write took %v, want at most %v", slowest, requestTimeout+harness.Slack)
			}
			t.Logf("%d acknowledged, %d rejected, %d unknown, slowest %v", len(ledger.acknowledged), len(ledger.refused),
				len(ledger.doubtful), time.Duration(w.slowest.Load()))
			c.check(t, ledger)
		})
	}
}

// TestDatabaseFrozen freezes the database of three writing instances: its connections stay
// open, but it does not respond.
func TestDatabaseFrozen(t *testing.T) {
	t.Parallel() // it mostly waits
	const frozen = 10 * time.Second
	for _, s := range harness.PrivateServers {
		t.Run(s.Name, func(t *testing.T) {
			process, database := harness.OwnDatabase(t, s)
			ledger := newLedger()
			c := startCluster(t, instances, database, failingFast)
			w := startLoad(t, c, ledger, 9)
			await(t, 40, "writes", w.acknowledged)
			thaw := time.After(frozen)
			process.Freeze()
			await(t, 9, "rejected writes", w.failed)
			var requests sync.WaitGroup
			for i, s := range c {
				requests.Go(func() {
					failsFast(t, s, requestTimeout+harness.Slack, "POST", "/api/v1/namespaces/default/flags",
						map[string]any{"key": fmt.Sprint("frozen-", i), "name": "Frozen"})
				})
			}
			requests.Wait()
			<-thaw
			process.Thaw()
			await(t, 40, "writes", w.acknowledged)
			w.stop()
			if slowest := time.Duration(w.slowest.Load()); slowest > requestTimeout+harness.Slack {
				t.Errorf("a write took %v, want at most %v", slowest, requestTimeout+harness.Slack)
			}
			for i, s := range c {
				awaitRecovery(t, s, ledger, fmt.Sprint("thawed-", i))
			}
			t.Logf("%d acknowledged, %d rejected, %d unknown, slowest %v", len(ledger.acknowledged), len(ledger.refused),
				len(ledger.doubtful), time.Duration(w.slowest.Load()))
			c.check(t, ledger)
		})
	}
}

// TestConnectionsCut repeatedly cuts all connections to the database.
func TestConnectionsCut(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		ledger := newLedger()
		proxy, through := newTCPProxy(t, s.Migrated(t), 0, nil)
		c := startCluster(t, instances, through, failingFast)
		w := startLoad(t, c, ledger, 9)
		for range 20 {
			await(t, 10, "writes", w.acknowledged)
			proxy.cut()
		}
		await(t, 10, "writes", w.acknowledged)
		w.stop()
		t.Logf("%d acknowledged, %d rejected, %d unknown", len(ledger.acknowledged), len(ledger.refused), len(ledger.doubtful))
		c.check(t, ledger)
	})
}

// TestLatency adds 200 ms to each round trip to the database. Results must be correct, and
// concurrent reads must share queries.
func TestLatency(t *testing.T) {
	t.Parallel() // it mostly waits
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		const roundTrip = 200 * time.Millisecond
		_, through := newTCPProxy(t, s.Migrated(t), roundTrip/2, nil)
		ledger := newLedger()
		c := startCluster(t, instances, through)
		var writing sync.WaitGroup
		for i, s := range c {
			for j := range 2 {
				writing.Go(func() {
					if got := ledger.write(t, s, fmt.Sprintf("w%d-%d", i, j), 0); got != acknowledged {
						t.Errorf("outcome %d", got)
					}
				})
			}
		}
		begin := time.Now()
		writing.Wait()
		t.Logf("%.1f round trips for each of 6 writes in turn", time.Since(begin).Seconds()/6/roundTrip.Seconds())

		// Concurrent requests share a query.
		begin = time.Now()
		var reading sync.WaitGroup
		for range 50 {
			reading.Go(func() { c[0].Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil) })
		}
		reading.Wait()
		if took := time.Since(begin); took > 15*roundTrip {
			t.Errorf("50 concurrent reads took %v", took)
		}
		c.check(t, ledger)
	})
}

// TestImportKilled kills a server in the middle of an import. Nothing of the import exists,
// and no cleanup is needed.
func TestImportKilled(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		var limit atomic.Int64 // how many bytes the server may send to the database
		limit.Store(1 << 40)
		var victim *harness.Server
		proxy, through := newTCPProxy(t, database, 0, func(total int64) {
			if total > limit.Load() {
				victim.Kill()
			}
		})
		victim = harness.Start(t, through)
		var flags []any
		for i := range 2000 {
			flags = append(flags, map[string]any{"key": fmt.Sprint("flag-", i), "name": strings.Repeat("x", 200)})
		}
		body := map[string]any{"document": map[string]any{"flags": flags}}
		limit.Store(proxy.total.Load() + 400_000) // the size of the names alone
		if a, err := victim.Call(t.Context(), "POST", "/api/v1/namespaces/default/import", body); err == nil {
			t.Fatalf("status %d: the import ended before the server was killed", a.Status)
		}
		victim.Wait(t)

		other := harness.Start(t, database)
		before := other.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil)
		var list struct{ TotalCount int }
		other.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, &list)
		if revision := before.Header.Get("Guidon-Revision"); list.TotalCount != 0 || revision != "1" {
			t.Errorf("%d flags at revision %s, want none at 1", list.TotalCount, revision)
		}
		for _, c := range allChanges(t, other) {
			if c.Kind == "flag" {
				t.Errorf("there is a change record of %s", c.Key)
			}
		}
		again := other.Must(t, "POST", "/api/v1/namespaces/default/import", body, &list)
		if again.Status != http.StatusOK || again.Header.Get("Guidon-Revision") != "2" {
			t.Errorf("the import again: status %d, revision %s", again.Status, again.Header.Get("Guidon-Revision"))
		}
	})
}
