package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage: docs/scale.md is current.
func TestPage(t *testing.T) {
	var got strings.Builder
	if err := render(&got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("docs/scale.md is outdated; run make generate (-file +calculated):\n%s", diff)
	}
}

// TestShare compares the simulation with two cases that can be calculated.
func TestShare(t *testing.T) {
	const query = 0.001
	tests := []struct {
		name          string
		rate          float64
		queries, mean float64
	}{
		{"few requests run their own queries", 0.1, 0.1, query},
		{"many requests share queries, and arrive on average in the middle of one", 1e6, 1 / query, 1.5 * query},
	}
	for _, test := range tests {
		got := share(test.rate, query)
		if !near(got.Queries, test.queries) || !near(got.Mean, test.mean) {
			t.Errorf("%s: got %v queries a second and a wait of %v, want %v and %v", test.name, got.Queries, got.Mean, test.queries, test.mean)
		}
		if got.P99 < query || got.P99 > 2*query {
			t.Errorf("%s: got a wait of %v, want one to two query times", test.name, got.P99)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.01*b }

func TestInstances(t *testing.T) {
	var in inputs
	in.Assumed.InstanceCores, in.Assumed.Utilization, in.Assumed.LeastInstances = 4, 0.5, 3
	tests := []struct {
		cores float64
		want  int
	}{{0.1, 3}, {6, 3}, {6.1, 4}, {100, 50}}
	for _, test := range tests {
		if got := in.instances(test.cores); got != test.want {
			t.Errorf("%v cores: got %d instances, want %d", test.cores, got, test.want)
		}
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		f    float64
		want string
	}{
		{0, "0"}, {0.0012345, "0.0012"}, {0.5, "0.5"}, {22.74, "23"}, {999.6, "1,000"},
		{1234, "1,200"}, {1e6, "1,000,000"},
	}
	for _, test := range tests {
		if got := number(test.f); got != test.want {
			t.Errorf("%v: got %q, want %q", test.f, got, test.want)
		}
	}
}
