package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// report contains all measurements.
type report struct {
	rows    []row
	latency []float64 // ms, by contender
	memory  []float64 // MiB, by contender
	service *httpContender
}

func (r *report) print(w io.Writer) {
	fmt.Fprintln(w, "Requests/s and server CPU time per request, as ratios to those of the floor (medians of all rounds):")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| Work | Connections | Floor: requests/s, CPU µs, p99 ms | At least | Log off: requests/s, CPU | p99 ms | Log on: requests/s, CPU | p99 ms |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, row := range r.rows {
		row.print(w)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "p99 at %d requests/s, open loop: floor %.2f ms, log off %.2f ms, log on %.2f ms (at most 0.1 ms more than the floor)\n",
		openRate, r.latency[0], r.latency[1], r.latency[2])
	fmt.Fprintf(w, "memory afterwards: floor %.0f MiB, log off %.0f MiB, log on %.0f MiB (at most 100 MiB)\n", r.memory[0], r.memory[1], r.memory[2])
	fmt.Fprintf(w, "start: the service was healthy after %d ms and had evaluated a flag after %d ms (at most 100 ms, 250 ms)\n",
		r.service.healthy.Milliseconds(), r.service.evaluated.Milliseconds())
}

func (r row) print(w io.Writer) {
	floor := r.runs[0]
	fmt.Fprintf(w, "| %s | %d | %.0f, %.1f, %.2f | %.2f |", r.scenario.name, r.connections,
		medianOf(floor, rateOf), medianOf(floor, cpuOf), medianOf(floor, p99Of), r.scenario.target)
	for _, runs := range r.runs[1:] {
		fmt.Fprintf(w, " %.2f, %.2f | %.2f |", ratio(runs, floor, rateOf), ratio(runs, floor, cpuOf), medianOf(runs, p99Of))
	}
	fmt.Fprintln(w)
}

// ratio returns the median of the ratios of all rounds.
func ratio(runs, floor []sample, figure func(sample) float64) float64 {
	return median(ratios(runs, floor, figure))
}

// connectionCounts is the value of the flag -connections.
type connectionCounts []int

// String implements [flag.Value].
func (c *connectionCounts) String() string {
	texts := make([]string, len(*c))
	for i, n := range *c {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// Set implements [flag.Value].
func (c *connectionCounts) Set(text string) error {
	*c = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return errors.New("must be positive numbers")
		}
		*c = append(*c, n)
	}
	return nil
}
