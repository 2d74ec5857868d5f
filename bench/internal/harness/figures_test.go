package harness_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// TestInTurns: the order alternates, and samples are grouped by contender and round.
func TestInTurns(t *testing.T) {
	var order []int
	samples, err := harness.InTurns(3, 2, func(contender int) (harness.Sample, error) {
		order = append(order, contender)
		return harness.Sample{Rate: float64(10*contender + len(order))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 2, 1, 0}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	want := [][]harness.Sample{{{Rate: 1}, {Rate: 6}}, {{Rate: 12}, {Rate: 15}}, {{Rate: 23}, {Rate: 24}}}
	if diff := cmp.Diff(want, samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}

	broken := errors.New("broken")
	if _, err := harness.InTurns(1, 1, func(int) (harness.Sample, error) { return harness.Sample{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestRatios: each round is compared with the same round of the floor.
func TestRatios(t *testing.T) {
	floor := []harness.Sample{{Rate: 100}, {Rate: 10}, {Rate: 50}, {Rate: 20}}
	runs := []harness.Sample{{Rate: 50}, {Rate: 10}, {Rate: 10}, {Rate: 15}}
	got := harness.Ratios(runs, floor, harness.Rate)
	if diff := cmp.Diff([]float64{0.5, 1, 0.2, 0.75}, got); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
	if got, want := harness.Median(got), 0.625; got != want {
		t.Errorf("median: got %v, want %v", got, want)
	}
	if got, want := harness.MedianOf(runs[:3], harness.Rate), 10.0; got != want {
		t.Errorf("median of three: got %v, want %v", got, want)
	}
}
