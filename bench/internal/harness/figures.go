package harness

import "slices"

// Sample contains the measurements of one run.
type Sample struct {
	Rate float64 // requests per second
	CPU  float64 // of the server, µs per request
	P99  float64 // ms, if the load generator reports it
}

// The figures of a sample.
func Rate(s Sample) float64 { return s.Rate }
func CPU(s Sample) float64  { return s.CPU }
func P99(s Sample) float64  { return s.P99 }

// InTurns runs n contenders in turns: first to last, last to first, and so on. It returns
// the samples by contender, then by round.
func InTurns(n, rounds int, run func(contender int) (Sample, error)) ([][]Sample, error) {
	samples := make([][]Sample, n)
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

// MedianOf returns the median of a figure.
func MedianOf(runs []Sample, figure func(Sample) float64) float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = figure(run)
	}
	return Median(values)
}

// Ratios returns the ratio of a figure to that of the floor for each round, because other
// load on the machine affects both in the same way.
func Ratios(runs, floor []Sample, figure func(Sample) float64) []float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = figure(run) / figure(floor[i])
	}
	return values
}

// Median returns the median of the values.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
