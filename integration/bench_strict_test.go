package integration

import (
	"fmt"
	"testing"
)

// BenchmarkStrict evaluates a flag in mode strict, with the revision from the
// database and from Redis, and, in turns in one run, has bare net/http servers
// decode the same request and write as long an answer: one that does nothing else
// ("floor"), and one that reads a row by its primary key first ("read"). It reports
// the rates, and the ratio that says what strictness costs: of many connections,
// who share questions, to the floor; of one connection, alone with its question, to
// the read.
func BenchmarkStrict(b *testing.B) {
	durablePostgres.need(b)
	database := durablePostgres.migrated(b)
	redis := startRedis(b)
	one := startQuietly(b, database)
	putBooleanFlag(b, one)
	two := startQuietly(b, durablePostgres.migrated(b), throughRedis(redis.URL)...)
	putBooleanFlag(b, two)
	for _, connections := range []int{1, 128} {
		b.Run(fmt.Sprint("connections_", connections), func(b *testing.B) {
			contenders := []*server{one, two, bareServer(b, ""), bareServer(b, database)}
			names := []string{"postgres", "redis", "floor", "read"}
			rates := make([]throughput, len(contenders))
			var asked [][]*httpConn
			for _, s := range contenders {
				var all []*httpConn
				for range connections {
					all = append(all, dialHTTP(b, s))
				}
				asked = append(asked, all)
			}
			round := func() {
				for i, all := range asked {
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
			b.ReportMetric(0, "ns/op") // of a round, which says nothing
		})
	}
}

const (
	evaluatePath = "/evaluate/v1/boolean"
	evaluateBody = `{"namespaceKey": "default", "flagKey": "flag", "entityId": "user-1", "context": {"country": "de", "plan": "pro"}}`
)

func putBooleanFlag(b *testing.B, s *server) {
	b.Helper()
	s.must(b, "POST", "/api/v1/namespaces/default/flags",
		map[string]any{"key": "flag", "name": "Flag", "type": "BOOLEAN_FLAG_TYPE"}, nil)
}
