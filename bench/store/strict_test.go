package store

import (
	"fmt"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// BenchmarkStrict evaluates a flag in mode strict, with the revision from the database
// and from Redis. Alternately, bare net/http servers decode the same request and write a
// response of the same length: one that does nothing else ("floor"), and one that first
// reads a row by its primary key ("read"). It reports the rates, and as the cost of
// strictness a ratio. For many connections, which share queries, that is the ratio to
// the floor; for a single connection it is the ratio to the read.
func BenchmarkStrict(b *testing.B) {
	harness.DurablePostgres.Need(b)
	database := harness.DurablePostgres.Migrated(b)
	redis := harness.StartRedis(b)
	one := startQuietly(b, database)
	putBooleanFlag(b, one)
	two := startQuietly(b, harness.DurablePostgres.Migrated(b), harness.ThroughRedis(redis.URL)...)
	putBooleanFlag(b, two)
	for _, connections := range []int{1, 128} {
		b.Run(fmt.Sprint("connections_", connections), func(b *testing.B) {
			contenders := []*harness.Server{one, two, bareServer(b, ""), bareServer(b, database)}
			names := []string{"postgres", "redis", "floor", "read"}
			rates := make([]throughput, len(contenders))
			var clients [][]*httpConn
			for _, s := range contenders {
				var all []*httpConn
				for range connections {
					all = append(all, dialHTTP(b, s))
				}
				clients = append(clients, all)
			}
			round := func() {
				for i, all := range clients {
					rates[i].turn(b, connections, func(caller int) error { return all[caller].post(evaluatePath, evaluateBody) })
				}
			}
			round() // opens every connection
			clear(rates)
			for b.Loop() {
				for range turns {
					round()
				}
			}
			for i, name := range names {
				b.ReportMetric(rates[i].perSecond(), name+"/s")
			}
			baseline := rates[2]
			if connections == 1 {
				baseline = rates[3]
			}
			b.ReportMetric(rates[0].perSecond()/baseline.perSecond(), "postgres-ratio")
			b.ReportMetric(rates[1].perSecond()/baseline.perSecond(), "redis-ratio")
			b.ReportMetric(0, "ns/op") // of a round, which is meaningless
		})
	}
}

const (
	evaluatePath = "/evaluate/v1/boolean"
	evaluateBody = `{"namespaceKey": "default", "flagKey": "flag", "entityId": "user-1", "context": {"country": "de", "plan": "pro"}}`
)

func putBooleanFlag(b *testing.B, s *harness.Server) {
	b.Helper()
	s.Must(b, "POST", "/api/v1/namespaces/default/flags",
		map[string]any{"key": "flag", "name": "Flag", "type": "BOOLEAN_FLAG_TYPE"}, nil)
}
