package main

import (
	"math/rand/v2"
	"slices"
)

// sharing is what comes of requests that share their questions for the revision.
type sharing struct {
	Questions float64 // a second
	Mean, P99 float64 // that a request waits for its question, in seconds
}

// simulatedRequests is long enough for a steady state.
const simulatedRequests = 200_000

// share simulates one instance in the mode strict: requests come at random, rate a
// second; one question is under way at a time, takes so many seconds and serves
// all requests that came before it began. It is the same at every run.
func share(rate, question float64) sharing {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- a simulation
	waits := make([]float64, 0, simulatedRequests)
	now, asked := 0.0, 0
	next := random.ExpFloat64() / rate
	var waiting []float64 // since when
	for len(waits) < simulatedRequests {
		if len(waiting) == 0 { // nothing to ask until somebody comes
			now = next
			waiting = append(waiting, now)
			next += random.ExpFloat64() / rate
		}
		served := waiting
		waiting = nil
		asked++
		now += question
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
		Questions: float64(asked) / now,
		Mean:      sum / float64(len(waits)),
		P99:       waits[len(waits)*99/100],
	}
}
