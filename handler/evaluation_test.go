package handler_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
	messages "github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// TestEvaluation tests contract 3.6 and 7.7.
func TestEvaluation(t *testing.T) {
	s := newShop(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"beta","name":"Beta","enabled":true}`)
	for _, test := range []struct{ name, path, body, want string }{
		{"a variant", "/evaluate/v1/variant", `{"flagKey":"f","entityId":"e","requestId":"mine"}`,
			`{"match":true,"segmentKeys":["s"],"reason":"MATCH_EVALUATION_REASON","variantKey":"v","variantAttachment":"{\"a\":1}","requestId":"mine","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"f"}`},
		{"nothing matched", "/evaluate/v1/variant", `{"flagKey":"beta","namespaceKey":"default"}`,
			`{"match":false,"segmentKeys":[],"reason":"UNKNOWN_EVALUATION_REASON","variantKey":"","variantAttachment":"","requestId":"ID","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"beta"}`},
		{"a boolean", "/evaluate/v1/boolean", `{"flagKey":"b","entityId":"e"}`, ""},
		{"an empty batch", "/evaluate/v1/batch", `{}`, `{"requestId":"ID","responses":[],"requestDurationMillis":MS}`},
		{"a batch", "/evaluate/v1/batch", `{"requestId":"all","requests":[{"flagKey":"f","requestId":"one"},{"flagKey":"nope"},{"flagKey":"f","namespaceKey":"nope"}]}`,
			`{"requestId":"all","responses":[` +
				`{"type":"VARIANT_EVALUATION_RESPONSE_TYPE","variantResponse":{"match":true,"segmentKeys":["s"],"reason":"MATCH_EVALUATION_REASON","variantKey":"v","variantAttachment":"{\"a\":1}","requestId":"one","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"f"}},` +
				`{"type":"ERROR_EVALUATION_RESPONSE_TYPE","errorResponse":{"flagKey":"nope","namespaceKey":"","reason":"NOT_FOUND_ERROR_EVALUATION_REASON"}},` +
				`{"type":"ERROR_EVALUATION_RESPONSE_TYPE","errorResponse":{"flagKey":"f","namespaceKey":"nope","reason":"NOT_FOUND_ERROR_EVALUATION_REASON"}}],"requestDurationMillis":MS}`},
		// Legacy responses repeat the namespace as it was sent (contract 7.9).
		{"legacy", "/api/v1/evaluate", `{"flagKey":"f","entityId":"e","context":{"a":"<b>"}}`,
			`{"requestId":"ID","entityId":"e","requestContext":{"a":"<b>"},"match":true,"flagKey":"f","segmentKey":"s","timestamp":"TIME","value":"v","requestDurationMillis":MS,"attachment":"{\"a\":1}","reason":"MATCH_EVALUATION_REASON","namespaceKey":"","segmentKeys":["s"]}`},
		{"legacy with a namespace", "/api/v1/namespaces/default/evaluate", `{"flagKey":"beta","entityId":"e","requestId":"mine"}`,
			`{"requestId":"mine","entityId":"e","requestContext":{},"match":false,"flagKey":"beta","segmentKey":"","timestamp":"TIME","value":"","requestDurationMillis":MS,"attachment":"","reason":"UNKNOWN_EVALUATION_REASON","namespaceKey":"default","segmentKeys":[]}`},
		{"legacy batch", "/api/v1/namespaces/default/batch-evaluate", `{"excludeNotFound":true,"requests":[{"flagKey":"nope"},{"flagKey":"f","requestId":"one","namespaceKey":"default"}]}`,
			`{"requestId":"ID","responses":[{"requestId":"","entityId":"","requestContext":{},"match":true,"flagKey":"f","segmentKey":"s","timestamp":"TIME","value":"v","requestDurationMillis":MS,"attachment":"{\"a\":1}","reason":"MATCH_EVALUATION_REASON","namespaceKey":"default","segmentKeys":["s"]}],"requestDurationMillis":MS}`},
		{"empty legacy batch", "/api/v1/batch-evaluate", ``, `{"requestId":"ID","responses":[],"requestDurationMillis":MS}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			want := test.want
			if want == "" { // the result depends on the entity's hash, which other tests cover
				enabled, reason := "false", "DEFAULT"
				if r, _, err := s.service.EvaluateBoolean(t.Context(), service.Demand{}, service.EvaluationRequest{FlagKey: "b", EntityID: "e"}); err != nil {
					t.Fatal(err)
				} else if r.Enabled {
					enabled, reason = "true", "MATCH"
				}
				want = `{"enabled":` + enabled + `,"reason":"` + reason + `_EVALUATION_REASON","requestId":"ID","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"b","segmentKeys":[]}`
			}
			s.do("POST", test.path, test.body).check(t, 200, want)
		})
	}
	s.do("POST", "/api/v1/batch-evaluate", `{"requests":[{"flagKey":"nope"}]}`).fails(t, 404, 5, `flag "default/nope" not found`)
	s.do("POST", "/api/v1/batch-evaluate", `{"requests":[{"flagKey":"b"}]}`).fails(t, 400, 3, `flag type BOOLEAN_FLAG_TYPE invalid`)
	s.do("POST", "/evaluate/v1/variant", `{"flagKey":"nope"}`).fails(t, 404, 5, `flag "default/nope" not found`)
}

// TestReasons tests the reasons other than a match, in both APIs (contract 3.6).
func TestReasons(t *testing.T) {
	s := newShop(t)
	for name, c := range map[string]struct{ create, path, body, want string }{
		"FLAG_DISABLED": {`{"key":"off","name":"Off"}`, "", "", ""},
		"UNKNOWN":       {`{"key":"none","name":"None","enabled":true}`, "", "", ""},
		"DEFAULT":       {`{"key":"dflt","name":"Default","enabled":true}`, "", "", ""},
	} {
		s.must("", "POST", "/api/v1/flags", c.create)
		var flag struct{ Key string }
		if err := json.Unmarshal([]byte(c.create), &flag); err != nil {
			t.Fatal(err)
		}
		if name == "DEFAULT" {
			s.must("z", "POST", "/api/v1/flags/dflt/variants", `{"key":"z"}`)
			s.must("", "PUT", "/api/v1/flags/dflt", `{"name":"Default","enabled":true,"defaultVariantId":"{z}"}`)
		}
		for _, path := range []string{"/evaluate/v1/variant", "/api/v1/evaluate"} {
			r := s.must("", "POST", path, `{"flagKey":"`+flag.Key+`","entityId":"e"}`)
			if got, want := r.field(t, "reason"), name+"_EVALUATION_REASON"; got != want {
				t.Errorf("%s %s: %s, want %s", path, flag.Key, got, want)
			}
		}
	}
}

// TestDuration tests contract 7.7: the duration in fractional milliseconds, and the
// timestamp of the end.
func TestDuration(t *testing.T) {
	instant := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := handler.New(handler.Config{Service: newInside(t, "sets the clock").stock().service, Now: func() time.Time {
		instant = instant.Add(1500 * time.Microsecond)
		return instant
	}})
	response, err := h.Invoke(t.Context(), operation(t, "Variant"), call.Request{
		Message: &messages.EvaluationRequest{FlagKey: "f"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := response.Message.(*messages.VariantEvaluationResponse)
	if got := answer.GetRequestDurationMillis(); got != 1.5 {
		t.Errorf("%v ms", got)
	}
	if got, want := answer.GetTimestamp().AsTime(), time.Date(2026, 1, 2, 3, 4, 5, 3_000_000, time.UTC); !got.Equal(want) {
		t.Errorf("at %v, want %v", got, want)
	}
}

// observer records all notifications.
type observer struct {
	finished  chan finished
	evaluated chan evaluation.Event
}

type finished struct {
	Operation, Transport string
	Code                 guidon.Code
}

func newObserver() *observer {
	return &observer{make(chan finished, 100), make(chan evaluation.Event, 100)}
}

func (o *observer) Finished(operation, transport string, code guidon.Code, _ time.Duration, _ string) {
	o.finished <- finished{operation, transport, code}
}

func (*observer) SnapshotRequested(string, int) {}

func (o *observer) Evaluated(events []evaluation.Event) {
	for _, e := range events {
		o.evaluated <- e
	}
}

// TestObserverOfLargeBatch: the observer gets all evaluations of a batch of any size, in
// order.
func TestObserverOfLargeBatch(t *testing.T) {
	o := &observer{make(chan finished, 100), make(chan evaluation.Event, service.MaxBatch)}
	s := newShop(t, func(c *handler.Config) { c.Observer, c.Evaluations = o, o })
	m := &messages.BatchEvaluationRequest{}
	for i := range service.MaxBatch {
		m.Requests = append(m.Requests, &messages.EvaluationRequest{FlagKey: fmt.Sprintf("flag-%d", i)})
	}
	for _, size := range []int{0, 1, 64, 65, service.MaxBatch} {
		request := call.Request{Message: &messages.BatchEvaluationRequest{Requests: m.GetRequests()[:size]}}
		if _, err := s.handler.Invoke(t.Context(), operation(t, "Batch"), request); err != nil {
			t.Fatal(err)
		}
		for i := range size {
			if got, want := (<-o.evaluated).Flag, fmt.Sprintf("flag-%d", i); got != want {
				t.Fatalf("batch of %d: evaluation %d is of %s, want %s", size, i, got, want)
			}
		}
		if more := len(o.evaluated); more > 0 {
			t.Fatalf("batch of %d: %d evaluations too many", size, more)
		}
	}
}

// TestObserver: the observer is notified of every request and every evaluation.
func TestObserver(t *testing.T) {
	o := newObserver()
	s := newShop(t, func(c *handler.Config) { c.Observer, c.Evaluations = o, o })
	for range 8 { // the requests of newShop
		<-o.finished
	}
	s.do("POST", "/evaluate/v1/variant", `{"flagKey":"f"}`)
	s.do("POST", "/evaluate/v1/variant", `{"flagKey":"b"}`)
	s.do("POST", "/evaluate/v1/boolean", `{"flagKey":"nope"}`)
	s.do("POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f"},{"flagKey":"nope","namespaceKey":"x"}]}`)
	s.do("POST", "/api/v1/batch-evaluate", `{"requests":[{"flagKey":"f"}]}`)
	s.do("POST", "/evaluate/v1/boolean", `{"flagKey":"nope","namespaceKey":"default@1"}`)
	s.do("GET", "/nope", "")
	want := []evaluation.Event{
		{Revision: 9, Namespace: "default", Flag: "f", Type: "variant", Value: "v", Reason: "match", Match: true, SegmentKeys: []string{"s"}, FlagExists: true},
		{Revision: 9, Namespace: "default", Flag: "b", Type: "variant", Err: guidon.InvalidArgument, FlagExists: true},
		{Revision: 9, Namespace: "default", Flag: "nope", Type: "boolean", Err: guidon.NotFound},
		{Namespace: "default", Flag: "f", Type: "variant", Value: "v", Reason: "match", Match: true, SegmentKeys: []string{"s"}, FlagExists: true},
		{Namespace: "x", Flag: "nope", Err: guidon.NotFound},
		{Revision: 9, Namespace: "default", Flag: "f", Type: "variant", Value: "v", Reason: "match", Match: true, SegmentKeys: []string{"s"}, FlagExists: true},
		{Namespace: "default@1", Flag: "nope", Type: "boolean", Err: guidon.InvalidArgument},
	}
	for _, want := range want {
		got := <-o.evaluated
		if stable(got.RequestID) != "ID" {
			t.Errorf("request id %q", got.RequestID)
		}
		got.RequestID, got.Duration = "", 0
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, want := range []finished{
		{"/flipt.evaluation.EvaluationService/Variant", "http", call.OK},
		{"/flipt.evaluation.EvaluationService/Variant", "http", guidon.InvalidArgument},
		{"/flipt.evaluation.EvaluationService/Boolean", "http", guidon.NotFound},
		{"/flipt.evaluation.EvaluationService/Batch", "http", call.OK},
		{"/flipt.Flipt/BatchEvaluate", "http", call.OK},
		{"/flipt.evaluation.EvaluationService/Boolean", "http", guidon.InvalidArgument},
		{"unmatched", "http", guidon.NotFound},
	} {
		if got := <-o.finished; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestRequestIDOfResponse: a response repeats the id in the client's message. Without
// one it has a fresh id, under which the request is logged unless it has an id itself.
func TestRequestIDOfResponse(t *testing.T) {
	h := handler.New(handler.Config{Service: newService(t)})
	for _, test := range []struct {
		name, ofRequest, ofMessage string
		want                       func(ofResponse, ofRequest string) bool
	}{
		{"none", "", "", func(ofResponse, ofRequest string) bool { return ofResponse == ofRequest && stable(ofResponse) == "ID" }},
		{"of the request", "mine", "", func(ofResponse, ofRequest string) bool { return ofRequest == "mine" && stable(ofResponse) == "ID" }},
		{"of the message", "", "theirs", func(ofResponse, ofRequest string) bool { return ofResponse == "theirs" && stable(ofRequest) == "ID" }},
		{"of both", "mine", "theirs", func(ofResponse, ofRequest string) bool { return ofResponse == "theirs" && ofRequest == "mine" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, batch := range []struct {
				operation string
				message   proto.Message
			}{
				{"Batch", &messages.BatchEvaluationRequest{RequestId: test.ofMessage}},
				{"BatchEvaluate", &flipt.BatchEvaluationRequest{RequestId: test.ofMessage}},
			} {
				response, err := h.Invoke(t.Context(), operation(t, batch.operation), call.Request{
					Transport: "local", Message: batch.message, RequestID: test.ofRequest,
				})
				if err != nil {
					t.Fatal(err)
				}
				got := response.Message.(interface{ GetRequestId() string }).GetRequestId()
				if !test.want(got, response.RequestID) {
					t.Errorf("%s: the response has id %q, the request %q", batch.operation, got, response.RequestID)
				}
			}
		})
	}
}
