package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
)

// newCounting starts a server that has begun to count, with a boolean flag b and a variant flag v.
func newCounting(t *testing.T) *server {
	t.Helper()
	s := newInside(t, "it stores counts that a server stores once a minute")
	if err := s.counter.RollUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE","enabled":true}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"v","name":"V","enabled":true}`)
	s.must("red", "POST", "/api/v1/namespaces/default/flags/v/variants", `{"key":"red sea"}`)
	s.must("", "PUT", "/api/v1/namespaces/default/flags/v", `{"key":"v","name":"V","enabled":true,"defaultVariantId":"{red}"}`)
	return s
}

// counted returns the totals of a flag by answer and reason.
func (s *server) counted(flag string) map[string]float64 {
	s.t.Helper()
	var answer struct {
		Series []struct {
			Answer, Reason string
			Total          float64
			Points         []float64
		}
		Total float64
	}
	if err := json.Unmarshal([]byte(s.must("", "GET", "/api/v1/namespaces/default/flags/"+flag+"/evaluations", "").body), &answer); err != nil {
		s.t.Fatal(err)
	}
	got, sum := map[string]float64{}, 0.0
	for _, one := range answer.Series {
		got[one.Answer+" "+one.Reason] = one.Total
		for _, n := range one.Points {
			sum += n
		}
	}
	if sum != answer.Total {
		s.t.Errorf("flag %s: the points have %v evaluations, the total is %v", flag, sum, answer.Total)
	}
	return got
}

// TestCounts: each evaluation by a client is counted once, whatever the route, and nothing else is.
func TestCounts(t *testing.T) {
	s := newCounting(t)
	for _, r := range []struct{ path, body string }{
		{"/evaluate/v1/boolean", `{"flagKey":"b","entityId":"e"}`},
		{"/evaluate/v1/variant", `{"flagKey":"v","entityId":"e"}`},
		{"/evaluate/v1/batch", `{"requests":[{"flagKey":"b","entityId":"e"},{"flagKey":"v","entityId":"e"},{"flagKey":"b","entityId":"f"}]}`},
		{"/api/v1/evaluate", `{"flagKey":"v","entityId":"e"}`},
		{"/api/v1/namespaces/default/evaluate", `{"flagKey":"v","entityId":"e"}`},
		{"/api/v1/batch-evaluate", `{"requests":[{"flagKey":"v","entityId":"e"},{"flagKey":"v","entityId":"f"}]}`},
		{"/ofrep/v1/evaluate/flags/b", `{"context":{"targetingKey":"e"}}`},
		{"/ofrep/v1/evaluate/flags/v", `{"context":{"targetingKey":"e"}}`},
		{"/ofrep/v1/evaluate/flags", `{"context":{"targetingKey":"e"}}`},
		{"/api/v1/namespaces/default/flags/b/explain", `{"entityId":"e"}`},
		{"/api/v1/namespaces/default/flags/b/effect", `{"turnOn":false}`},
	} {
		s.must("", "POST", r.path, r.body)
	}
	s.do("POST", "/evaluate/v1/variant", `{"flagKey":"b","entityId":"e"}`)
	s.do("POST", "/evaluate/v1/boolean", `{"flagKey":"nope","entityId":"e"}`)
	s.must("", "GET", "/internal/v1/evaluation/snapshot/namespace/default", "")
	if err := s.counter.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]float64{"b": {"true default": 4, "error unknown": 1}, "v": {"red sea default": 7}}
	for flag, numbers := range want {
		if diff := cmp.Diff(numbers, s.counted(flag)); diff != "" {
			t.Errorf("flag %s (-want +got):\n%s", flag, diff)
		}
	}
	var totals struct {
		Flags []struct {
			FlagKey         string
			Total           float64
			LastEvaluatedAt string
		}
		Evaluations, Bulk, Download struct{ Total float64 }
	}
	read := func(query string) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.must("", "GET", "/api/v1/namespaces/default/evaluations"+query, "").body), &totals); err != nil {
			t.Fatal(err)
		}
	}
	read("?step=hour")
	if totals.Evaluations.Total != 12 || totals.Bulk.Total != 1 || totals.Download.Total != 1 || len(totals.Flags) != 0 {
		t.Errorf("namespace: got %+v, want 12 evaluations, one in bulk, one download", totals)
	}
	read("?flagKeys=v&flagKeys=nope&flagKeys=b")
	if got := fmt.Sprint(totals.Flags); len(totals.Flags) != 3 || totals.Flags[0].Total != 7 || totals.Flags[0].LastEvaluatedAt == "" ||
		totals.Flags[1].Total != 0 || totals.Flags[1].LastEvaluatedAt != "" || totals.Flags[2].Total != 5 {
		t.Errorf("flags: got %s, want 7, 0 and 5 evaluations", got)
	}
	var legacy struct {
		Timestamps []string
		Values     []float64
	}
	body := s.must("", "GET", "/internal/v1/analytics/namespaces/default/flags/b?from=2020-01-01%2000:00:00&to=2999-01-01T00:00:00Z", "").body
	if err := json.Unmarshal([]byte(body), &legacy); err != nil || len(legacy.Timestamps) == 0 || len(legacy.Values) != len(legacy.Timestamps) {
		t.Fatalf("got %s, %v", body, err)
	}
	sum := 0.0
	for _, n := range legacy.Values {
		sum += n
	}
	if sum != 5 {
		t.Errorf("as Flipt v1 asks: got %s, want 5 evaluations", body)
	}
}

// TestCountsOfUnknown: what is asked of a namespace that does not exist is not counted, because callers can make up any
// name, also one that the database cannot store.
func TestCountsOfUnknown(t *testing.T) {
	s := newCounting(t)
	for range 2 { // one that never existed, and one that was deleted
		s.must("", "GET", "/internal/v1/evaluation/snapshot/namespace/made-up", "")
		s.must("", "POST", "/ofrep/v1/evaluate/flags?namespace=made-up", `{"context":{"targetingKey":"e"}}`)
		if err := s.counter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.must("", "POST", "/api/v1/namespaces", `{"key":"made-up","name":"Now it exists"}`)
		body := s.must("", "GET", "/api/v1/namespaces/made-up/evaluations", "").body
		if want := `"total":`; strings.Contains(strings.ReplaceAll(body, `"total":0`, ""), want) {
			t.Errorf("got %s, want no evaluations", body)
		}
		s.must("", "DELETE", "/api/v1/namespaces/made-up", "")
	}
}

// TestReports: what clients report is added; errors name the field, and store nothing.
func TestReports(t *testing.T) {
	s := newCounting(t)
	const path = "/api/v1/namespaces/default/evaluations"
	for _, test := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"counts":{"b":{"true match":1}}}`, 400, "invalid field reporter"},
		{`{"reporter":"r","counts":{"b":{"true":1}}}`, 400, `invalid field counts: flag \"b\" must not have \"true\"`},
		{`{"reporter":"r","counts":{"b":{"true nonsense":1}}}`, 400, "invalid field counts"},
		{`{"reporter":"r","counts":{"b":{"true match":1.5}}}`, 400, `the numbers of flag \"b\" must be whole`},
		{`{"reporter":"r","counts":{"b":{"true match":-1}}}`, 400, `the numbers of flag \"b\" must be whole`},
		{`{"reporter":"r","counts":{"b":{"true match":1e300}}}`, 400, `flag \"b\"`},
		{`{"reporter":"r","counts":{"b":7}}`, 400, `flag \"b\" must have numbers`},
		{`{"reporter":"r","counts":{"*":{"true match":1}}}`, 400, "invalid field counts"},
		{`{"reporter":"` + strings.Repeat("r", 101) + `","counts":{}}`, 400, "invalid field reporter"},
		{`{"reporter":"r","counts":{"b":{"true match":512},"nope":{"true match":1},"*":{"download":3}}}`, 200, ""},
	} {
		if r := s.do("POST", path, test.body); r.status != test.status || !strings.Contains(r.body, test.want) {
			t.Errorf("%s: got %d %s, want %d with %s", test.body, r.status, r.body, test.status, test.want)
		}
	}
	if diff := cmp.Diff(map[string]float64{"true match": 512}, s.counted("b")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRanges: errors of ranges name the field.
func TestRanges(t *testing.T) {
	s := newCounting(t)
	for query, want := range map[string]string{
		"?step=week":                 "invalid field step: must be minute, hour or day",
		"?from=2999-01-01T00:00:00Z": "invalid field from: must be before to, and in the past",
		"?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "invalid field from",
	} {
		s.do("GET", "/api/v1/namespaces/default/flags/b/evaluations"+query, "")
		if r := s.do("GET", "/api/v1/namespaces/default/evaluations"+query, ""); !strings.Contains(r.body, want) {
			t.Errorf("%s: got %s, want %s", query, r.body, want)
		}
	}
	keys := strings.Repeat("&flagKeys=f", 101)
	if r := s.do("GET", "/api/v1/namespaces/default/evaluations?"+keys[1:], ""); r.status != 400 || !strings.Contains(r.body, "invalid field flagKeys") {
		t.Errorf("101 flags: got %d %s", r.status, r.body)
	}
}

// TestCountsOff: a service that does not count says so.
func TestCountsOff(t *testing.T) {
	s := newInside(t, "it has its own service", func(c *handler.Config) { c.Service = newService(t) })
	s.must("", "POST", "/api/v1/namespaces/default/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"b","entityId":"e"}`)
	for _, path := range []string{
		"/api/v1/namespaces/default/flags/b/evaluations", "/api/v1/namespaces/default/evaluations",
		"/internal/v1/analytics/namespaces/default/flags/b",
	} {
		s.do("GET", path, "").check(t, 501, `{"code":12,"message":"analytics is disabled","details":[]}`)
	}
	s.do("POST", "/api/v1/namespaces/default/evaluations", `{"reporter":"r","counts":{"b":{"true match":1}}}`).check(t, 501, `{"code":12,"message":"analytics is disabled","details":[]}`)
}
