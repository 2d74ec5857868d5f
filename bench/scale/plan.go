package main

import "math"

// The seconds that a question for the revision takes, by where it goes.
const (
	sameZone    = 0.0005
	otherZone   = 0.0015
	nearRegion  = 0.030
	otherRegion = 0.080
	farRegion   = 0.150
)

// hoursPerMonth is 365 × 24 ÷ 12.
const hoursPerMonth = 730

// sharedRow is one instance at one rate.
type sharedRow struct {
	Where    string
	Question float64
	Rate     float64
	sharing
}

func sharedRows() (rows []sharedRow) {
	for _, to := range []struct {
		where    string
		question float64
	}{{"same zone", sameZone}, {"other zone", otherZone}, {"other region", otherRegion}} {
		for _, rate := range []float64{100, 1_000, 10_000} {
			rows = append(rows, sharedRow{to.where, to.question, rate, share(rate, to.question)})
		}
	}
	return rows
}

// fleet is what one way of asking takes for one rate of evaluations.
type fleet struct {
	Rate      float64
	Mode      string
	Instances int
	Questions float64 // a second, of all instances
	Postgres  float64 // cores, for the questions
	Redis     float64 // cores
	Dollars   float64 // a month, for the instances' cores alone
}

// instances returns how many have the cores, at what each is used for.
func (in inputs) instances(cores float64) int {
	return max(in.Assumed.LeastInstances, int(math.Ceil(cores/(in.Assumed.InstanceCores*in.Assumed.Utilization))))
}

// dollars is the price of so many instances' cores for a month.
func (in inputs) dollars(instances int) float64 {
	return float64(instances) * in.Assumed.InstanceCores * hoursPerMonth * in.Assumed.CoreHour
}

// cores is what so many of a thing a second take.
func cores(rate, cpu float64) float64 { return rate * cpu / 1e6 }

func (in inputs) fleets() (rows []fleet) {
	m := in.Measured
	for _, rate := range []float64{1_000, 10_000, 100_000, 1_000_000} {
		n := in.instances(cores(rate, m.Strict.CPU*m.Log.Factor))
		asked := share(rate/float64(n), sameZone).Questions * float64(n)
		rows = append(rows, fleet{rate, "strict", n, asked, cores(asked, m.QuestionPostgres.CPU), 0, in.dollars(n)})

		// A request that shares no question costs Redis at least as much.
		n = in.instances(cores(rate, m.StrictRedis.CPU*m.Log.Factor))
		asked = share(rate/float64(n), sameZone).Questions * float64(n)
		rows = append(rows, fleet{rate, "strict, Redis", n, asked, 0, cores(rate, m.RedisPerRequest.CPU), in.dollars(n)})

		n = in.instances(cores(rate, m.Single.CPU*m.Log.Factor))
		asked = float64(n) / (in.Assumed.MaxAge * 2 / 3) // about all namespaces at once
		rows = append(rows, fleet{rate, "bounded", n, asked, cores(asked, m.QuestionPostgres.CPU), 0, in.dollars(n)})
	}
	return rows
}

// form is one way in which clients learn a million values a second.
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
		{What: "one evaluation a request", Requests: values, Cores: cores(values, m.Single.CPU)},
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

// regional is what a request waits for its question in one place.
type regional struct {
	Where  string
	Strict sharing
}

// regions are simulated for an instance under the load that it is made for.
func (in inputs) regions() []regional {
	rate := in.Assumed.InstanceCores * in.Assumed.Utilization * 1e6 / in.Measured.Strict.CPU
	return []regional{
		{"the database's own", share(rate, sameZone)},
		{"30 ms away", share(rate, nearRegion)},
		{"80 ms away", share(rate, otherRegion)},
		{"150 ms away", share(rate, farRegion)},
	}
}

// download is what one change makes all clients of client-side evaluation fetch,
// in gigabytes.
func (in inputs) download() float64 {
	return 1_000_000 / in.Assumed.EvaluationsPerClient * in.Assumed.SnapshotBytes / 1e9
}
