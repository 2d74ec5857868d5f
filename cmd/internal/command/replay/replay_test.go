package replay

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// answers is a service that answers every evaluation alike.
type answers struct {
	calls  atomic.Int32
	most   atomic.Int32
	now    atomic.Int32
	reject func(batch int) error // nil accepts all
	answer func(r *evaluation.EvaluationRequest) *evaluation.EvaluationResponse
}

func (a *answers) Invoke(_ context.Context, _ string, request, response proto.Message) error {
	a.calls.Add(1)
	for n := a.now.Add(1); ; {
		if most := a.most.Load(); n <= most || a.most.CompareAndSwap(most, n) {
			break
		}
	}
	defer a.now.Add(-1)
	batch := request.(*evaluation.BatchEvaluationRequest).GetRequests()
	if a.reject != nil {
		if err := a.reject(len(batch)); err != nil {
			return err
		}
	}
	for _, r := range batch {
		out := response.(*evaluation.BatchEvaluationResponse)
		out.Responses = append(out.Responses, a.answer(r))
	}
	return nil
}

func (a *answers) Close() error { return nil }

func variant(v *evaluation.VariantEvaluationResponse) *answers {
	return &answers{answer: func(*evaluation.EvaluationRequest) *evaluation.EvaluationResponse {
		return &evaluation.EvaluationResponse{Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: v}}
	}}
}

func requests(n int) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for range n {
			if !yield(Request{Namespace: "shop", Flag: "price"}, nil) {
				return
			}
		}
	}
}

func options(from, to *answers) Options {
	return Options{From: from, To: to, Batch: 10, Concurrency: 2, Examples: 2}
}

// TestFields: which differences count.
func TestFields(t *testing.T) {
	base := func() *evaluation.VariantEvaluationResponse {
		return &evaluation.VariantEvaluationResponse{
			Match: true, Reason: evaluation.EvaluationReason_MATCH_EVALUATION_REASON, SegmentKeys: []string{"a", "b"}, VariantKey: "x",
			VariantAttachment: `{"a":1,"b":[2]}`, FlagKey: "price", RequestId: "1", RequestDurationMillis: 1,
		}
	}
	for _, test := range []struct {
		name, field string
		edit        func(v *evaluation.VariantEvaluationResponse)
	}{
		{"nothing", "", func(*evaluation.VariantEvaluationResponse) {}},
		{"ids and times", "", func(v *evaluation.VariantEvaluationResponse) { v.RequestId, v.RequestDurationMillis = "2", 3 }},
		{"order of segments", "", func(v *evaluation.VariantEvaluationResponse) { v.SegmentKeys = []string{"b", "a"} }},
		{"form of JSON", "", func(v *evaluation.VariantEvaluationResponse) { v.VariantAttachment = "{\"b\": [2],\n\"a\": 1}" }},
		{"JSON", "variantAttachment", func(v *evaluation.VariantEvaluationResponse) { v.VariantAttachment = `{"a":2,"b":[2]}` }},
		{"no JSON", "variantAttachment", func(v *evaluation.VariantEvaluationResponse) { v.VariantAttachment = "" }},
		{"segments", "segmentKeys", func(v *evaluation.VariantEvaluationResponse) { v.SegmentKeys = []string{"a"} }},
		{"match", "match", func(v *evaluation.VariantEvaluationResponse) { v.Match = false }},
		{"reason", "reason", func(v *evaluation.VariantEvaluationResponse) {
			v.Reason = evaluation.EvaluationReason_DEFAULT_EVALUATION_REASON
		}},
		{"variant", "variantKey", func(v *evaluation.VariantEvaluationResponse) { v.VariantKey = "y" }},
		{"flag", "flagKey", func(v *evaluation.VariantEvaluationResponse) { v.FlagKey = "other" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			other := base()
			test.edit(other)
			report, err := Run(t.Context(), requests(5), options(variant(base()), variant(other)))
			if err != nil {
				t.Fatal(err)
			}
			if test.field == "" {
				if report.Different != 0 || report.Equal != 5 {
					t.Errorf("got %+v, want no differences", report)
				}
				return
			}
			if report.Different != 5 || len(report.Flags) != 1 || len(report.Flags[0].Examples) != 2 {
				t.Fatalf("got %+v, want 5 differences with 2 examples", report)
			}
			if diff := cmp.Diff(map[string]int{test.field: 5}, report.Flags[0].Fields); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRejectedBatch: if a service rejects a batch because of one request, the others are
// compared all the same.
func TestRejectedBatch(t *testing.T) {
	from := variant(&evaluation.VariantEvaluationResponse{VariantKey: "x"})
	from.reject = func(batch int) error {
		if batch > 1 {
			return guidon.Errorf(guidon.InvalidArgument, "entityId is missing")
		}
		return nil
	}
	report, err := Run(t.Context(), requests(10), options(from, variant(&evaluation.VariantEvaluationResponse{VariantKey: "x"})))
	if err != nil || report.Equal != 10 || from.calls.Load() != 11 {
		t.Errorf("got %+v, %v and %d calls, want 10 equal ones", report, err, from.calls.Load())
	}
}

// TestFailure: a service that fails ends the run.
func TestFailure(t *testing.T) {
	to := variant(nil)
	to.reject = func(int) error { return guidon.Errorf(guidon.Limited, "too many requests") }
	_, err := Run(t.Context(), requests(100_000), options(variant(nil), to))
	if want := "--to: too many requests; set --rate"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestLimits: calls have at most the batch, and there are not more at a time or per second
// than allowed.
func TestLimits(t *testing.T) {
	from, to := variant(nil), variant(nil)
	from.reject = func(batch int) error {
		if batch > 10 {
			return errors.New("too many evaluations in a call")
		}
		return nil
	}
	o := options(from, to)
	o.Rate = 2000
	began := time.Now()
	if _, err := Run(t.Context(), requests(205), o); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("205 evaluations took %s, want at least 100ms with 2000 per second", took)
	}
	if from.calls.Load() != 21 || from.most.Load() > 2 {
		t.Errorf("got %d calls, %d at a time; want 21, at most 2", from.calls.Load(), from.most.Load())
	}
}

func TestReadLog(t *testing.T) {
	in := strings.NewReader(`
{"requestId":"1","namespaceKey":"shop","flagKey":"a","entityId":"u","context":{"s":"x","n":1.50,"b":true,"o":{"k": [1]},"z":null}}
{"namespaceKey":"outer","requests":[{"flagKey":"b","entityId":"u"},{"namespaceKey":"inner","flagKey":"c"}]}
{"flag_key":"d","entity_id":"v","namespace_key":"shop"}
{"flagKey":"e"}`)
	var got []Request
	for r, err := range ReadLog("log", in, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	none := map[string]string{}
	want := []Request{
		{"shop", "a", "u", map[string]string{"s": "x", "n": "1.50", "b": "true", "o": `{"k": [1]}`}},
		{"outer", "b", "u", none}, {"inner", "c", "", none}, {"shop", "d", "v", none}, {"default", "e", "", none},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBadLog(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                              "log line 1: flagKey is required",
		"\n[]":                            "log line 2: must be a JSON object such as",
		`{"flagKey":1}`:                   "must be a JSON object such as",
		`{"requests":[{"entityId":"u"}]}`: "log line 1: requests[0]: flagKey is required",
		strings.Repeat("x", maxLine+1):    "log: line 1: must not be longer than",
	} {
		var got error
		for _, err := range ReadLog("log", strings.NewReader(text), nil) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, got, want)
		}
	}
}

// TestSegmentOf: probes are made for the constraints as they are, negated or not.
func TestSegmentOf(t *testing.T) {
	got := segmentOf(&flipt.Segment{Key: "s", Constraints: []*flipt.Constraint{
		{Id: "1", Type: flipt.ComparisonType_VERSION_COMPARISON_TYPE, Property: "app", Operator: "lt", Value: "2", Negate: true},
	}})
	want := &guidon.Segment{Key: "s", Constraints: []*guidon.Constraint{
		{ID: "1", Type: guidon.VersionComparison, Property: "app", Operator: "lt", Value: "2", Negate: true},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
