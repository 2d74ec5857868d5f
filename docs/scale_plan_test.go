package docs_test

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The time of a query for revisions, in seconds, by the location of the database.
const (
	sameZone    = 0.0005
	otherZone   = 0.0015
	nearRegion  = 0.030
	otherRegion = 0.080
	farRegion   = 0.150
)

// hoursPerMonth is 365 × 24 ÷ 12.
const hoursPerMonth = 730

// sharedRow is one instance at one rate of requests.
type sharedRow struct {
	Where string
	Query float64
	Rate  float64
	sharing
}

func sharedRows() (rows []sharedRow) {
	for _, to := range []struct {
		where string
		query float64
	}{{"same zone", sameZone}, {"other zone", otherZone}, {"other region", otherRegion}} {
		for _, rate := range []float64{100, 1_000, 10_000} {
			rows = append(rows, sharedRow{to.where, to.query, rate, share(rate, to.query)})
		}
	}
	return rows
}

// fleet is what a cache mode needs for a rate of evaluations.
type fleet struct {
	Rate      float64
	Mode      string
	Instances int
	Queries   float64 // a second, of all instances
	Postgres  float64 // cores, for the queries
	Redis     float64 // cores
	Dollars   float64 // a month, only for the cores of the instances
}

// instances returns how many instances provide the cores, at the assumed utilization.
func (in inputs) instances(cores float64) int {
	return max(in.Assumed.LeastInstances, int(math.Ceil(cores/(in.Assumed.InstanceCores*in.Assumed.Utilization))))
}

// dollars returns the monthly price of the instances.
func (in inputs) dollars(instances int) float64 {
	return float64(instances) * in.Assumed.InstanceCores * hoursPerMonth * in.Assumed.CoreHour
}

// cores returns the cores for rate operations a second, each with cpu µs of CPU time.
func cores(rate, cpu float64) float64 { return rate * cpu / 1e6 }

func (in inputs) fleets() (rows []fleet) {
	m := in.Measured
	for _, rate := range []float64{1_000, 10_000, 100_000, 1_000_000} {
		n := in.instances(cores(rate, m.Strict.CPU*m.Log.Factor))
		queries := share(rate/float64(n), sameZone).Queries * float64(n)
		rows = append(rows, fleet{rate, "strict", n, queries, cores(queries, m.QueryPostgres.CPU), 0, in.dollars(n)})

		// Redis costs at most this much: it was measured with few requests per query.
		n = in.instances(cores(rate, m.StrictRedis.CPU*m.Log.Factor))
		queries = share(rate/float64(n), sameZone).Queries * float64(n)
		rows = append(rows, fleet{rate, "strict, Redis", n, queries, 0, cores(rate, m.RedisPerRequest.CPU), in.dollars(n)})

		n = in.instances(cores(rate, m.Single.CPU*m.Log.Factor))
		queries = float64(n) / (in.Assumed.MaxAge * 2 / 3) // one query is for all namespaces
		rows = append(rows, fleet{rate, "bounded", n, queries, cores(queries, m.QueryPostgres.CPU), 0, in.dollars(n)})
	}
	return rows
}

// form is a method by which clients get a million values a second.
type form struct {
	What      string
	Requests  float64 // a second
	Cores     float64
	Instances int
	Dollars   float64
}

func (in inputs) forms() []form {
	const values = 1_000_000
	m := in.Measured
	clients := values / in.Assumed.EvaluationsPerClient
	rows := []form{
		{What: "one evaluation per request", Requests: values, Cores: cores(values, m.Single.CPU)},
		{What: "batches of 50", Requests: values / 50, Cores: cores(values/50, m.Batch.CPU)},
		{What: "OFREP bulk of 50", Requests: values / 50, Cores: cores(values/50, m.Bulk.CPU)},
		{What: "client-side evaluation, polled", Requests: clients / in.Assumed.PollSeconds, Cores: cores(clients/in.Assumed.PollSeconds, m.NotModified.CPU)},
	}
	for i := range rows {
		rows[i].Cores *= m.Log.Factor
		rows[i].Instances = in.instances(rows[i].Cores)
		rows[i].Dollars = in.dollars(rows[i].Instances)
	}
	return rows
}

// regional is the wait of requests in one region.
type regional struct {
	Where  string
	Strict sharing
}

// regions simulates an instance in each region at the assumed utilization.
func (in inputs) regions() []regional {
	rate := in.Assumed.InstanceCores * in.Assumed.Utilization * 1e6 / in.Measured.Strict.CPU
	return []regional{
		{"region of the database", share(rate, sameZone)},
		{"30 ms away", share(rate, nearRegion)},
		{"80 ms away", share(rate, otherRegion)},
		{"150 ms away", share(rate, farRegion)},
	}
}

// download returns how much all clients with client-side evaluation download after one
// change, in gigabytes.
func (in inputs) download() float64 {
	return 1_000_000 / in.Assumed.EvaluationsPerClient * in.Assumed.SnapshotBytes / 1e9
}

// sharing is the result of requests that share queries for revisions.
type sharing struct {
	Queries   float64 // a second
	Mean, P99 float64 // wait of a request, in seconds
}

// simulatedRequests is enough for a steady state.
const simulatedRequests = 200_000

// share simulates one instance in the mode strict. Requests arrive at random, rate a
// second. One query runs at a time, takes query seconds and serves all requests that
// arrived before it started. The result is deterministic.
func share(rate, query float64) sharing {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- a simulation
	waits := make([]float64, 0, simulatedRequests)
	now, queries := 0.0, 0
	next := random.ExpFloat64() / rate
	var waiting []float64 // arrival times
	for len(waits) < simulatedRequests {
		if len(waiting) == 0 { // idle until the next request
			now = next
			waiting = append(waiting, now)
			next += random.ExpFloat64() / rate
		}
		served := waiting
		waiting = nil
		queries++
		now += query
		for _, since := range served {
			waits = append(waits, now-since)
		}
		for next <= now {
			waiting = append(waiting, next)
			next += random.ExpFloat64() / rate
		}
	}
	slices.Sort(waits)
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	return sharing{
		Queries: float64(queries) / now,
		Mean:    sum / float64(len(waits)),
		P99:     waits[len(waits)*99/100],
	}
}
