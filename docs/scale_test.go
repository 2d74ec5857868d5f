package docs_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

//go:embed scale.md.tmpl
var scalePage string

//go:embed scale.json
var scaleInputs []byte

// figure is a measurement and its source.
type figure struct {
	CPU    float64 `json:"cpu_us"` // CPU time, in µs
	Factor float64 `json:"factor"` // of another CPU time
	From   string  `json:"from"`
}

// inputs are the measurements and assumptions for the calculation.
type inputs struct {
	Measured struct {
		Date            string `json:"date"`
		Machine         string `json:"machine"`
		Single          figure `json:"single"`
		Strict          figure `json:"strict"`
		StrictRedis     figure `json:"strict_redis"`
		Log             figure `json:"log"`
		Batch           figure `json:"batch_50"`
		Bulk            figure `json:"bulk_50"`
		NotModified     figure `json:"not_modified"`
		QueryPostgres   figure `json:"query_postgres"`
		WriteInstance   figure `json:"write_instance"`
		WritePostgres   figure `json:"write_postgres"`
		RedisPerRequest figure `json:"redis_per_request"`
	} `json:"measured"`
	Assumed struct {
		InstanceCores        float64 `json:"instance_cores"`
		Utilization          float64 `json:"utilization"`     // of those cores, at the peak
		LeastInstances       int     `json:"least_instances"` // in a region
		MaxAge               float64 `json:"max_age_seconds"` // in the mode bounded
		CoreHour             float64 `json:"core_hour_dollars"`
		SnapshotBytes        float64 `json:"snapshot_bytes"`         // of a client-side snapshot, compressed
		PollSeconds          float64 `json:"poll_seconds"`           // between two polls of a client
		EvaluationsPerClient float64 `json:"evaluations_per_client"` // a second, with client-side evaluation
	} `json:"assumed"`
}

// TestScale calculates scale.md from measurements, by arithmetic and a small simulation, and
// checks that the page is current. With -update it writes the page.
func TestScale(t *testing.T) {
	var in inputs
	decoder := json.NewDecoder(bytes.NewReader(scaleInputs))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		t.Fatal(err)
	}
	page, err := template.New("scale").Funcs(template.FuncMap{"n": rounded, "ms": milliseconds, "dollars": dollars}).Parse(scalePage)
	if err != nil {
		t.Fatal(err)
	}
	m := in.Measured
	var got strings.Builder
	if err := page.Execute(&got, map[string]any{
		"In": in, "Shared": sharedRows(), "Fleets": in.fleets(), "Forms": in.forms(), "Regions": in.regions(),
		"PerCore": 1e6 / m.Single.CPU, "PerCoreStrict": 1e6 / m.Strict.CPU, "PerCoreBatch": 50e6 / m.Batch.CPU,
		"QueriesPerCore": 1e6 / m.QueryPostgres.CPU, "WritesPerCore": 1e6 / m.WritePostgres.CPU,
		"Clients": 1e6 / in.Assumed.EvaluationsPerClient, "Download": in.download(),
	}); err != nil {
		t.Fatal(err)
	}
	checkGenerated(t, "scale.md", got.String())
}

// rounded formats a figure with at most two significant digits: measurements that are repeated
// differ in the second one.
func rounded(f float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 2, 64), 64)
	text := strconv.FormatFloat(short, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func milliseconds(seconds float64) string { return rounded(seconds*1000) + " ms" }

func dollars(amount float64) string { return "$" + rounded(amount) }

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

func TestRounded(t *testing.T) {
	tests := []struct {
		f    float64
		want string
	}{
		{0, "0"}, {0.0012345, "0.0012"}, {0.5, "0.5"}, {22.74, "23"}, {999.6, "1,000"},
		{1234, "1,200"}, {1e6, "1,000,000"},
	}
	for _, test := range tests {
		if got := rounded(test.f); got != test.want {
			t.Errorf("%v: got %q, want %q", test.f, got, test.want)
		}
	}
}
