package handler_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// heavy are the methods of the operations that take turns. Every operation that reads change
// records or whole namespaces, or that analyzes flags, must be one of them.
var heavy = []string{
	"Apply", "Compare", "Explain", "ExplainBatch", "ExplainFlags", "ExplainSegment", "Export", "GetEvaluations", "GetFlagEvaluations", "GetFlagEvaluationsCount", "GetFlagReach", "GetFlagTimeline", "GetSegmentUsage", "Import",
	"LatestChanges", "ListAllChanges", "ListChanges", "ListFlagUses", "MergeFlag", "MergeSegment", "Plan", "PreviewFlag", "PreviewFlagReach", "PreviewSegment",
}

// busy returns a server whose only turn has begun.
func busy(t *testing.T) *server {
	t.Helper()
	memory := limit.NewBudget(0)
	s := newInside(t, "calls operations without a request", func(c *handler.Config) { c.Budget, c.Timeout = memory, 200*time.Millisecond })
	turn := memory.Heavy.NewTurn()
	if err := turn.Begin(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(turn.End)
	return s
}

// findsNoTurn runs the operation as a trusted caller, and reports whether it found no turn.
func (s *server) findsNoTurn(o *call.Operation, m proto.Message) bool {
	s.t.Helper()
	_, err := s.handler.Invoke(s.t.Context(), o, call.Request{Transport: "local", Actor: &change.Anonymous, Message: m})
	return guidon.CodeOf(err) == guidon.Unavailable && strings.Contains(err.Error(), "too many requests that take much work")
}

// TestHeavy calls every operation while another heavy one runs. The light ones do not wait for
// it, unless they are about an earlier state of a namespace.
func TestHeavy(t *testing.T) {
	s := busy(t)
	var got, past []string
	for _, o := range s.handler.Operations() {
		m := o.NewRequest()
		setNamespace(m.ProtoReflect(), "default")
		if s.findsNoTurn(o, m) {
			got = append(got, o.Method())
			continue
		}
		if !o.Has(call.ReadsStates) {
			continue
		}
		m = o.NewRequest()
		setNamespace(m.ProtoReflect(), "default@1")
		if !s.findsNoTurn(o, m) {
			past = append(past, o.Method())
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(heavy, got); diff != "" {
		t.Errorf("the heavy operations (-want +got):\n%s", diff)
	}
	if len(past) > 0 {
		t.Errorf("these compute earlier states without a turn: %v", past)
	}
}

// TestFewLatestChanges: what lists show of all their flags takes no turn.
func TestFewLatestChanges(t *testing.T) {
	s := busy(t)
	for _, o := range s.handler.Operations() {
		if o.Method() != "LatestChanges" {
			continue
		}
		for _, test := range []struct {
			request *guidonv1.LatestChangesRequest
			waits   bool
		}{
			{&guidonv1.LatestChangesRequest{Keys: []string{"a", "b"}}, true},
			{&guidonv1.LatestChangesRequest{Keys: []string{"a"}}, false},
			{&guidonv1.LatestChangesRequest{Keys: []string{"a", "b"}, WithoutSummaries: true}, false},
		} {
			test.request.Kind = "flag"
			if got := s.findsNoTurn(o, test.request); got != test.waits {
				t.Errorf("%v waits: %t, want %t", test.request, got, test.waits)
			}
		}
	}
}

// largeFlag stores the flag "large", whose JSON has so many bytes, and changes it once. It
// returns the revision of the change.
func largeFlag(t *testing.T, s *server, size int) int64 {
	t.Helper()
	const part = 64 << 10
	var variants []string
	for i := range size / part {
		variants = append(variants, fmt.Sprintf(`{"key":"v%d","attachment":"{\"text\":\"%s\"}"}`, i, strings.Repeat("x", part-100)))
	}
	s.must("", "PUT", "/api/v1/namespaces/default/flags/large/content", fmt.Sprintf(`{"flag":{"name":"Large","type":"VARIANT_FLAG_TYPE","variants":[%s]}}`, strings.Join(variants, ",")))
	r := s.must("", "PUT", "/api/v1/namespaces/default/flags/large", `{"name":"Larger","enabled":true}`)
	var revision int64
	if err := json.Unmarshal([]byte(r.header.Get("Guidon-Revision")), &revision); err != nil {
		t.Fatal(err)
	}
	return revision
}

// TestTooLargeForTurn: what can never have the memory that it needs says so, with the name
// of the setting, and what fits does not add up.
func TestTooLargeForTurn(t *testing.T) {
	withoutRaceDetector(t)
	for _, test := range []struct {
		memory int64
		status int
	}{{4 << 20, http.StatusRequestEntityTooLarge}, {32 << 20, http.StatusOK}} {
		s := newServer(t, func(c *handler.Config) { c.Budget = limit.NewBudget(test.memory) })
		revision := largeFlag(t, s, 2<<20)
		for range 3 {
			r := s.do("POST", "/api/v1/namespaces/default/plan", fmt.Sprintf(`{"undo":{"firstRevision":%d}}`, revision))
			if r.status != test.status || (r.status != http.StatusOK) != strings.Contains(r.body, "server.request_memory_mib") {
				t.Errorf("with %d MiB: got %d %.300s, want %d", test.memory>>20, r.status, r.body, test.status)
			}
		}
	}
}
