package store

import (
	"database/sql"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// BenchmarkScale measures the input of docs/scale.json: the CPU time that the instance,
// PostgreSQL and Redis spend on an evaluation, on a query for the revision and on a
// write. CPU times hardly depend on the other load of the machine.
func BenchmarkScale(b *testing.B) {
	b.Run("strict", func(b *testing.B) { newScaling(b).evaluations(b) })
	b.Run("strict_redis", func(b *testing.B) {
		redis := harness.StartRedis(b)
		s := newScaling(b, harness.ThroughRedis(redis.URL)...)
		s.redis = redis
		s.evaluations(b)
	})
	b.Run("bounded", func(b *testing.B) { newScaling(b, "GUIDON_CACHE_MODE=bounded").evaluations(b) })
	b.Run("not_modified", func(b *testing.B) { newScaling(b, "GUIDON_CACHE_MODE=bounded").polls(b) })
	b.Run("write", func(b *testing.B) { newScaling(b).writes(b) })
}

// scaling is one instance with its own PostgreSQL.
type scaling struct {
	instance *harness.Server
	postgres *dbtest.Server
	redis    *dbtest.Server // or nil
	database *sql.DB
}

func newScaling(b *testing.B, env ...string) *scaling {
	b.Helper()
	postgres, url := harness.OwnDatabase(b, harness.Postgres)
	database, err := harness.OpenSQL(url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = database.Close() })
	s := &scaling{instance: startQuietly(b, url, env...), postgres: postgres, database: database}
	s.instance.Must(b, http.MethodPost, "/api/v1/namespaces/default/import", map[string]any{"document": harness.Document}, nil)
	return s
}

// scaleClients is the number of concurrent connections.
const scaleClients = 32

// evaluations measures single evaluations.
func (s *scaling) evaluations(b *testing.B) {
	const body = `{"flagKey":"flag1","entityId":"user-1","context":{"fizz":"buzz"}}`
	s.measure(b, scaleClients, func(c *httpConn) error { return c.post("/evaluate/v1/variant", body) })
}

// polls measures conditional requests for an unchanged client-side snapshot.
func (s *scaling) polls(b *testing.B) {
	const path = "/internal/v1/evaluation/snapshot/namespace/default"
	tag := s.instance.Must(b, http.MethodGet, path, nil, nil).Header.Get("ETag")
	if tag == "" {
		b.Fatal("the snapshot has no ETag")
	}
	s.measure(b, scaleClients, func(c *httpConn) error { return c.unchanged(path, tag) })
}

// writes measures the creation of flags in one namespace, which is serialized.
func (s *scaling) writes(b *testing.B) {
	var n atomic.Int64
	s.measure(b, 4, func(c *httpConn) error {
		key := fmt.Sprint("flag-", n.Add(1))
		return c.post("/api/v1/namespaces/default/flags", fmt.Sprintf(`{"key":%q,"name":%q}`, key, key))
	})
}

// measure makes b.N calls with the clients and reports the CPU time per call.
func (s *scaling) measure(b *testing.B, clients int, call func(c *httpConn) error) {
	b.Helper()
	connections := make([]*httpConn, clients)
	for i := range connections {
		connections[i] = dialHTTP(b, s.instance)
		if err := call(connections[i]); err != nil {
			b.Fatal(err)
		}
	}
	before, beforeTransactions := s.spent(), s.transactions(b)
	var next atomic.Int64
	var running sync.WaitGroup
	b.ResetTimer()
	for _, c := range connections {
		running.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := call(c); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.StopTimer()
	after := s.spent()
	transactions := float64(s.transactions(b) - beforeTransactions)
	per := func(d time.Duration, n float64) float64 { return float64(d.Microseconds()) / n }
	b.ReportMetric(per(after.instance-before.instance, float64(b.N)), "instance-µs/op")
	b.ReportMetric(transactions/float64(b.N), "transactions/op")
	b.ReportMetric(per(after.postgres-before.postgres, float64(b.N)), "postgres-µs/op")
	if s.redis != nil {
		b.ReportMetric(per(after.redis-before.redis, float64(b.N)), "redis-µs/op")
	}
}

// spending is the CPU time of each program so far.
type spending struct{ instance, postgres, redis time.Duration }

func (s *scaling) spent() spending {
	total := spending{instance: dbtest.CPUTime(s.instance.PID()), postgres: s.postgres.CPUTime()}
	if s.redis != nil {
		total.redis = s.redis.CPUTime()
	}
	return total
}

// transactions returns the number of transactions committed in the database so far. It
// waits until the processes of PostgreSQL have reported them, which takes up to a second.
func (s *scaling) transactions(b *testing.B) int64 {
	b.Helper()
	last := int64(-1)
	for tick := time.NewTicker(1500 * time.Millisecond); ; <-tick.C {
		var n int64
		err := s.database.QueryRowContext(b.Context(), "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n)
		if err != nil {
			b.Fatal(err)
		}
		if n-last < 10 { // this query, and what the instance queries ahead of time
			return n
		}
		last = n
	}
}
