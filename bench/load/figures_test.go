package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInTurns: the order alternates, and samples are grouped by contender and round.
func TestInTurns(t *testing.T) {
	var order []int
	samples, err := inTurns(3, 2, func(contender int) (sample, error) {
		order = append(order, contender)
		return sample{Rate: float64(10*contender + len(order))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 2, 1, 0}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	want := [][]sample{{{Rate: 1}, {Rate: 6}}, {{Rate: 12}, {Rate: 15}}, {{Rate: 23}, {Rate: 24}}}
	if diff := cmp.Diff(want, samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}

	broken := errors.New("broken")
	if _, err := inTurns(1, 1, func(int) (sample, error) { return sample{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestRatios: each round is compared with the same round of the floor.
func TestRatios(t *testing.T) {
	floor := []sample{{Rate: 100}, {Rate: 10}, {Rate: 50}, {Rate: 20}}
	runs := []sample{{Rate: 50}, {Rate: 10}, {Rate: 10}, {Rate: 15}}
	got := ratios(runs, floor, rateOf)
	if diff := cmp.Diff([]float64{0.5, 1, 0.2, 0.75}, got); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
	if got, want := median(got), 0.625; got != want {
		t.Errorf("median: got %v, want %v", got, want)
	}
	if got, want := medianOf(runs[:3], rateOf), 10.0; got != want {
		t.Errorf("median of three: got %v, want %v", got, want)
	}
}
