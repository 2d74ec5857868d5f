package main

import "slices"

// sample contains the measurements of one run.
type sample struct {
	Rate float64 // requests per second
	CPU  float64 // of the server, µs per request
	P99  float64 // ms, if the load generator reports it
}

// rateOf, cpuOf and p99Of are the figures of a sample.
func rateOf(s sample) float64 { return s.Rate }
func cpuOf(s sample) float64  { return s.CPU }
func p99Of(s sample) float64  { return s.P99 }

// inTurns runs n contenders in turns: first to last, last to first, and so on. It returns
// the samples by contender, then by round.
func inTurns(n, rounds int, run func(contender int) (sample, error)) ([][]sample, error) {
	samples := make([][]sample, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			sample, err := run(i)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], sample)
		}
		slices.Reverse(order)
	}
	return samples, nil
}

// medianOf returns the median of a figure.
func medianOf(runs []sample, figure func(sample) float64) float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = figure(run)
	}
	return median(values)
}

// ratios returns the ratio of a figure to that of the floor for each round, because other
// load on the machine affects both in the same way.
func ratios(runs, floor []sample, figure func(sample) float64) []float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = figure(run) / figure(floor[i])
	}
	return values
}

// median returns the median of the values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
