package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// TestEMF: one line has what was counted in a minute, as CloudWatch's specification of the
// embedded metric format demands.
func TestEMF(t *testing.T) {
	var out bytes.Buffer
	now := time.UnixMilli(1_000_000)
	m := &emf{out: &out, function: "flags", now: func() time.Time { return now }}
	m.Finished("/a/B", "http", call.OK, 1500*time.Microsecond, "")
	m.Finished("/a/B", "http", guidon.NotFound, time.Millisecond, "")
	now = now.Add(emfPeriod - time.Millisecond)
	m.Finished("/a/B", "http", guidon.Unavailable, 2*time.Second, "")
	if out.Len() > 0 {
		t.Errorf("written too early: %s", out.String())
	}
	now = now.Add(time.Millisecond)
	for range 1000 {
		m.Finished("/a/B", "http", call.OK, time.Millisecond, "")
	}
	now = now.Add(emfPeriod)
	m.Finished("/a/B", "http", call.OK, time.Millisecond, "")

	decoder := json.NewDecoder(&out)
	var got, second map[string]any
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	metric := func(name, unit string) any { return map[string]any{"Name": name, "Unit": unit} }
	want := map[string]any{
		"_aws": map[string]any{
			"Timestamp": 1_060_000.0,
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace": "Guidon", "Dimensions": []any{[]any{"FunctionName"}},
				"Metrics": []any{metric("Requests", "Count"), metric("Errors", "Count"), metric("Duration", "Milliseconds")},
			}},
		},
		"FunctionName": "flags", "Requests": 3.0, "Errors": 1.0, "Duration": []any{1.5, 1.0, 2000.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := decoder.Decode(&second); err != nil {
		t.Fatal(err)
	}
	if second["Requests"] != 1000.0 || second["Errors"] != 0.0 || len(second["Duration"].([]any)) != 100 || decoder.More() {
		t.Errorf("got %v", second)
	}
}
