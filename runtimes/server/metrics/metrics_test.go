package metrics_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

// Contract 11: the content type that clients of the reference expect.
func TestMetricsContentType(t *testing.T) {
	recorder := httptest.NewRecorder()
	metrics.New(metrics.Config{}).Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	got := recorder.Header().Get("Content-Type")
	if want := "text/plain; version=0.0.4"; !strings.HasPrefix(got, want) {
		t.Errorf("Content-Type is %q, want prefix %q", got, want)
	}
}

// Contract 11: the names and labels of the evaluation metrics.
func TestEvaluationMetrics(t *testing.T) {
	tests := []struct {
		name  string
		event evaluation.Event
		want  []string
	}{
		{
			name: "a variant flag has match, segments, reason and value",
			event: evaluation.Event{
				Namespace: "shop", Flag: "checkout", Type: "variant", Value: "green", Reason: "match",
				Match: true, SegmentKeys: []string{"beta", "staff"}, FlagExists: true,
			},
			want: []string{
				`guidon_evaluations_requests_total{flag="checkout",namespace="shop"} 1`,
				`guidon_evaluations_results_total{flag="checkout",match="true",namespace="shop",reason="match",segment="beta,staff",type="variant",value="green"} 1`,
			},
		},
		{
			name: "a boolean flag has reason and value",
			event: evaluation.Event{
				Namespace: "shop", Flag: "banner", Type: "boolean", Value: "true", Reason: "default", FlagExists: true,
			},
			want: []string{
				`guidon_evaluations_requests_total{flag="banner",namespace="shop"} 1`,
				`guidon_evaluations_results_total{flag="banner",match="",namespace="shop",reason="default",segment="",type="boolean",value="true"} 1`,
			},
		},
		{
			name: "a failure of a known flag is counted under the flag",
			event: evaluation.Event{
				Namespace: "shop", Flag: "banner", Type: "variant", Err: guidon.Errorf(guidon.InvalidArgument, "wrong type"), FlagExists: true,
			},
			want: []string{
				`guidon_evaluations_errors_total{flag="banner",namespace="shop"} 1`,
				`guidon_evaluations_requests_total{flag="banner",namespace="shop"} 1`,
			},
		},
		{
			// Otherwise callers could fill the memory with made-up flags.
			name: "the names of an unknown flag and its namespace are not used as labels",
			event: evaluation.Event{
				Namespace: "made-up", Flag: "made-up-too", Type: "variant", Err: guidon.Errorf(guidon.NotFound, "not found"),
			},
			want: []string{
				`guidon_evaluations_errors_total{flag="",namespace=""} 1`,
				`guidon_evaluations_requests_total{flag="",namespace=""} 1`,
			},
		},
		{
			name: "nor are those of a flag that cannot be looked up because the database is unavailable",
			event: evaluation.Event{
				Namespace: "made-up", Flag: "made-up-too", Type: "variant", Err: errors.New("no connection"), FlagExists: true,
			},
			want: []string{
				`guidon_evaluations_errors_total{flag="",namespace=""} 1`,
				`guidon_evaluations_requests_total{flag="",namespace=""} 1`,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := metrics.New(metrics.Config{})
			m.Evaluated([]evaluation.Event{test.event})
			var got []string
			for _, line := range scrape(t, m, "guidon_evaluations_") {
				if !strings.Contains(line, "latency") && !strings.HasSuffix(line, " 0") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

// The evaluations of a batch are counted like separate ones, whatever has been counted
// before.
func TestEvaluationMetricsOfBatch(t *testing.T) {
	var events []evaluation.Event
	for i := range 60 {
		event := evaluation.Event{
			Namespace: "shop", Flag: fmt.Sprintf("flag-%d", i%7), Type: "boolean", Value: "true", Reason: "default", FlagExists: true,
			Duration: time.Duration(i) * time.Microsecond,
		}
		switch i % 5 {
		case 1:
			event.Namespace, event.Value = "forum", "false"
		case 2:
			event.Type, event.Value, event.SegmentKeys, event.Match = "variant", fmt.Sprintf("v%d", i), []string{"beta", "staff"}, true
		case 3:
			event.Err = guidon.InvalidArgument
		case 4:
			event.Err, event.FlagExists, event.Type = guidon.NotFound, false, ""
		}
		events = append(events, event)
	}
	batched, separate := metrics.New(metrics.Config{}), metrics.New(metrics.Config{})
	for range 3 {
		batched.Evaluated(events)
		for i := range events {
			separate.Evaluated(events[i : i+1])
		}
	}
	batched.Evaluated(nil)
	want := scrape(t, separate, "guidon_evaluations_")
	if len(want) < 60 {
		t.Errorf("only %d series", len(want))
	}
	if diff := cmp.Diff(want, scrape(t, batched, "guidon_evaluations_")); diff != "" {
		t.Errorf("metrics (-separate +batched):\n%s", diff)
	}
}

// The number of label values is limited, whatever is evaluated.
func TestEvaluationMetricsAreBounded(t *testing.T) {
	m := metrics.New(metrics.Config{})
	for i := range 2 * metrics.MaxSeries {
		m.Evaluated([]evaluation.Event{{
			Namespace: "shop", Flag: fmt.Sprintf("flag-%d", i), Type: "boolean", Value: "true", Reason: "default", FlagExists: true,
		}})
	}
	results := scrape(t, m, "guidon_evaluations_results_total{")
	if got, want := len(results), metrics.MaxSeries+1; got != want {
		t.Errorf("%d series, want %d", got, want)
	}
	other := `guidon_evaluations_requests_total{flag="_other",namespace="_other"} 10000`
	if got := scrape(t, m, `guidon_evaluations_requests_total{flag="_other"`); len(got) != 1 || got[0] != other {
		t.Errorf("got %q, want %q", got, other)
	}
}

// A flag with many different results has a counter for each of them, like one with few.
func TestEvaluationMetricsOfManyResults(t *testing.T) {
	m := metrics.New(metrics.Config{})
	const variants, times = 30, 3
	for range times {
		for i := range variants {
			m.Evaluated([]evaluation.Event{{
				Namespace: "shop", Flag: "banner", Type: "variant", Value: fmt.Sprintf("v%02d", i), Reason: "match", Match: true, FlagExists: true,
			}})
		}
	}
	var want []string
	for i := range variants {
		want = append(want, fmt.Sprintf(
			`guidon_evaluations_results_total{flag="banner",match="true",namespace="shop",reason="match",segment="",type="variant",value="v%02d"} %d`, i, times))
	}
	if diff := cmp.Diff(want, scrape(t, m, "guidon_evaluations_results_total{")); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestLatencyIsByTypeOnly(t *testing.T) {
	m := metrics.New(metrics.Config{})
	m.Evaluated([]evaluation.Event{{Namespace: "n", Flag: "f", Type: "boolean", FlagExists: true, Duration: 2 * time.Millisecond}})
	var got []string
	for _, prefix := range []string{"milliseconds_sum", "seconds_sum", `seconds_bucket{type="boolean",le="0.001"`, `seconds_bucket{type="boolean",le="0.005"`} {
		got = append(got, scrape(t, m, "guidon_evaluations_latency_"+prefix)...)
	}
	want := []string{
		`guidon_evaluations_latency_milliseconds_sum{type="boolean"} 2`, // the former name
		`guidon_evaluations_latency_milliseconds_sum{type="variant"} 0`,
		`guidon_evaluations_latency_seconds_sum{type="boolean"} 0.002`,
		`guidon_evaluations_latency_seconds_sum{type="variant"} 0`,
		`guidon_evaluations_latency_seconds_bucket{type="boolean",le="0.001"} 0`,
		`guidon_evaluations_latency_seconds_bucket{type="boolean",le="0.005"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
}

// Contract 11: the grpc_server_* family for both transports, and the codes that count as
// server errors.
func TestOperationMetrics(t *testing.T) {
	m := metrics.New(metrics.Config{})
	const get = "/flipt.Flipt/GetFlag"
	m.Finished(get, "http", call.OK, time.Millisecond, "")
	m.Finished(get, "grpc", guidon.NotFound, time.Millisecond, "")
	m.Finished(get, "grpc", guidon.Internal, time.Millisecond, "")
	m.Finished("/../made/up", "http", guidon.NotFound, time.Millisecond, "")
	var got []string
	for _, prefix := range []string{"grpc_server_handled", "grpc_server_started", "guidon_server_errors"} {
		for _, line := range scrape(t, m, prefix) {
			if !strings.HasSuffix(line, " 0") {
				got = append(got, line)
			}
		}
	}
	want := []string{
		`grpc_server_handled_total{grpc_code="Internal",grpc_method="GetFlag",grpc_service="flipt.Flipt",grpc_type="unary"} 1`,
		`grpc_server_handled_total{grpc_code="NotFound",grpc_method="GetFlag",grpc_service="flipt.Flipt",grpc_type="unary"} 1`,
		`grpc_server_handled_total{grpc_code="NotFound",grpc_method="_other",grpc_service="",grpc_type="unary"} 1`,
		`grpc_server_handled_total{grpc_code="OK",grpc_method="GetFlag",grpc_service="flipt.Flipt",grpc_type="unary"} 1`,
		`grpc_server_started_total{grpc_method="GetFlag",grpc_service="flipt.Flipt",grpc_type="unary"} 3`,
		`grpc_server_started_total{grpc_method="_other",grpc_service="",grpc_type="unary"} 1`,
		`guidon_server_errors_total 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestCacheAndBuildMetrics(t *testing.T) {
	m := metrics.New(metrics.Config{
		Info: diagnostics.Info{Version: "1.2.3", Commit: "abc"},
		Cache: func() metrics.CacheStats {
			return metrics.CacheStats{Hits: 7, Misses: 2, Stale: 3, Outage: 1500 * time.Millisecond}
		},
		Redis: func() metrics.RedisStats {
			return metrics.RedisStats{Up: true, Errors: 5, RevisionHits: 11, RevisionMisses: 12, SnapshotHits: 13, SnapshotMisses: 14}
		},
	})
	got := append(scrape(t, m, "guidon_cache"), scrape(t, m, "guidon_build_info")...)
	for i := range got {
		got[i] = regexp.MustCompile(`goversion="[^"]+"`).ReplaceAllString(got[i], `goversion="…"`)
	}
	want := []string{
		`guidon_cache_hit_total{cache="memory",type="snapshot"} 7`,
		`guidon_cache_hit_total{cache="redis",type="revision"} 11`,
		`guidon_cache_hit_total{cache="redis",type="snapshot"} 13`,
		`guidon_cache_miss_total{cache="memory",type="snapshot"} 2`,
		`guidon_cache_miss_total{cache="redis",type="revision"} 12`,
		`guidon_cache_miss_total{cache="redis",type="snapshot"} 14`,
		`guidon_cache_redis_errors_total 5`,
		`guidon_cache_redis_up 1`,
		`guidon_cache_stale_answers_total{cache="memory",type="snapshot"} 3`,
		`guidon_cache_staleness_seconds{cache="memory",type="snapshot"} 1.5`,
		`guidon_build_info{commit="abc",goversion="…",version="1.2.3"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// The failures of a flag are counted from its first evaluation, so that the first failure
// is an increase.
func TestErrorsOfKnownFlag(t *testing.T) {
	m := metrics.New(metrics.Config{})
	m.Evaluated([]evaluation.Event{{Namespace: "shop", Flag: "banner", Type: "boolean", Value: "true", Reason: "default", FlagExists: true}})
	want := []string{`guidon_evaluations_errors_total{flag="banner",namespace="shop"} 0`}
	if diff := cmp.Diff(want, scrape(t, m, `guidon_evaluations_errors_total{flag="banner"`)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// Of each namespace, the newest snapshot counts.
func TestOmittedFlags(t *testing.T) {
	m := metrics.New(metrics.Config{})
	for _, step := range []struct {
		namespace string
		omitted   int
		want      string
	}{{"a", 0, "0"}, {"a", 2, "2"}, {"b", 3, "5"}, {"a", 1, "4"}, {"b", 0, "1"}} {
		m.SnapshotRequested(step.namespace, step.omitted)
		if diff := cmp.Diff([]string{"guidon_snapshot_omitted_flags " + step.want}, scrape(t, m, "guidon_snapshot_omitted_flags")); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step, diff)
		}
	}
}

// Every evaluation calls Evaluated.
func BenchmarkEvaluated(b *testing.B) {
	events := map[string][]evaluation.Event{
		"boolean": {{Namespace: "shop", Flag: "banner", Type: "boolean", Value: "true", Reason: "default", FlagExists: true, Duration: 300}},
		"variant": {{Namespace: "shop", Flag: "checkout", Type: "variant", Value: "green", Reason: "match", Match: true, SegmentKeys: []string{"beta"}, FlagExists: true, Duration: 400}},
		"unknown": {{Namespace: "made-up", Flag: "made-up", Type: "variant", Err: guidon.NotFound}},
	}
	for name, event := range events {
		b.Run(name, func(b *testing.B) {
			m := metrics.New(metrics.Config{})
			b.ReportAllocs()
			for b.Loop() {
				m.Evaluated(event)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		m := metrics.New(metrics.Config{})
		event := events["boolean"]
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				m.Evaluated(event)
			}
		})
	})
}

func BenchmarkFinished(b *testing.B) {
	m := metrics.New(metrics.Config{})
	b.ReportAllocs()
	for b.Loop() {
		m.Finished("/flipt.Flipt/GetFlag", "grpc", call.OK, time.Millisecond, "")
	}
}

// scrape returns the lines of the metrics that begin with the prefix.
func scrape(t testing.TB, m *metrics.Registry, prefix string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	var lines []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}
