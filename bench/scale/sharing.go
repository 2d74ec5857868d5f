package main

import (
	"math/rand/v2"
	"slices"
)

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
