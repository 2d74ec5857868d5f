package codec_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/codec/quick"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// quickBodies are bodies of evaluation requests, and whether the fast path reads them.
var quickBodies = []struct {
	name  string
	body  string
	quick bool
}{
	{"all fields", `{"requestId":"r","namespaceKey":"n","flagKey":"f","entityId":"e","context":{"a":"b","c":""},"reference":"x"}`, true},
	{"snake_case", `{"request_id":"r","namespace_key":"n","flag_key":"f","entity_id":"e"}`, true},
	{"nulls, which Python and Rust send", `{"request_id":null,"flagKey":"f","context":null,"reference":null}`, true},
	{"a null in the context", `{"context":{"a":null,"b":"c"}}`, true},
	{"white space", " {\r\n\t\"flagKey\" : \"f\" ,\"context\" : { \"a\" : \"b\" } } ", true},
	{"nothing in it", `{}`, true},
	{"an empty context", `{"context":{}}`, true},
	{"a key twice in the context: the last counts", `{"context":{"a":"1","a":"2"}}`, true},
	{"beyond ASCII", `{"entityId":"Zoë","context":{"城市":"東京"}}`, true},
	{"something after it", `{"flagKey":"f"}` + "\xff{", true},
	{"a batch", `{"requestId":"r","reference":"x","requests":[{"flagKey":"f","context":{"a":"b"}},{"flagKey":"g","context":{"a":"b"}},{}]}`, true},
	{"a batch with contexts that begin alike", `{"requests":[{"context":{"a":"b"}},{"context":{"a":"b","c":"d"}},{"context":{}},{"context":{"a":"b"}}]}`, true},
	{"a batch with nothing in it", `{"requests":[]}`, true},

	{"nothing", ``, false},
	{"null", `null`, false},
	{"a list", `[]`, false},
	{"an escape", `{"flagKey":"\u0066"}`, false},
	{"a quote in it", `{"flagKey":"a\"b"}`, false},
	{"a control character", "{\"flagKey\":\"a\tb\"}", false},
	{"not UTF-8", "{\"flagKey\":\"\xff\"}", false},
	{"half a rune in the context", "{\"context\":{\"a\":\"\xe2\x82\"}}", false},
	{"an unknown field", `{"environmentKey":"e","flagKey":"f"}`, false},
	{"a name of another case", `{"FlagKey":"f"}`, false},
	{"an empty name", `{"":"f"}`, false},
	{"a field twice", `{"flagKey":"f","flagKey":"g"}`, false},
	{"a field in both spellings", `{"flagKey":"f","flag_key":"g"}`, false},
	{"a field in both spellings, the other way round", `{"flag_key":"g","flagKey":"f"}`, false},
	{"a field twice, once null", `{"flagKey":"f","flagKey":null}`, false},
	{"a number for a text", `{"flagKey":1}`, false},
	{"a number in the context", `{"context":{"age":42}}`, false},
	{"an object in the context", `{"context":{"a":{}}}`, false},
	{"a text for the context", `{"context":"a"}`, false},
	{"a null in a batch", `{"requests":[null]}`, false},
	{"null for the requests", `{"requests":null}`, false},
	{"an object for the requests", `{"requests":{}}`, false},
	{"a batch in a batch", `{"requests":[{"requests":[]}]}`, false},
	{"no end", `{"flagKey":"f"`, false},
	{"no end of a text", `{"flagKey":"f`, false},
	{"no end of a batch", `{"requests":[{}`, false},
	{"a comma too many", `{"flagKey":"f",}`, false},
	{"a comma too few", `{"flagKey":"f" "entityId":"e"}`, false},
	{"no colon", `{"flagKey" "f"}`, false},
	{"half a null", `{"flagKey":nul}`, false},
	{"more than a null", `{"flagKey":nullx}`, false},
	{"a large body", `{"flagKey":"` + strings.Repeat("f", 64<<10) + `"}`, false},
}

// TestQuickBodies checks that the fast path reads a body like the general code, and that
// it leaves the message unchanged if it does not read the body.
func TestQuickBodies(t *testing.T) {
	for _, test := range quickBodies {
		t.Run(test.name, func(t *testing.T) {
			fast := false
			for _, empty := range []proto.Message{&evaluation.EvaluationRequest{}, &evaluation.BatchEvaluationRequest{}} {
				m := withRoom(empty)
				if codec.UnmarshalQuick([]byte(test.body), m, 100_000) {
					fast = true
				} else if !proto.Equal(m, empty) {
					t.Errorf("not read by the fast path, but the message is %v", m)
				}
				checkQuick(t, []byte(test.body), empty, 100_000)
			}
			if fast != (test.quick && quick.Enabled) {
				t.Errorf("read by the fast path: %t, want %t", fast, test.quick)
			}
		})
	}
}

// A message that is not empty keeps the fields that the body does not set.
func TestQuickIntoMessage(t *testing.T) {
	full := &evaluation.EvaluationRequest{RequestId: "1", NamespaceKey: "2", FlagKey: "3", EntityId: "4", Context: map[string]string{"5": ""}, Reference: "6"}
	for _, body := range []string{`{}`, `{"flagKey":null,"context":null}`, `{"flagKey":"x","context":{"y":"z"}}`, `{"flagKey":"x","flagKey":1}`} {
		checkQuick(t, []byte(body), full, 100_000)
	}
	checkQuick(t, []byte(`{"requests":[]}`), &evaluation.BatchEvaluationRequest{Requests: []*evaluation.EvaluationRequest{full}}, 100_000)
}

// The limit on values also applies to small bodies.
func TestQuickValues(t *testing.T) {
	for values := range 12 {
		checkQuick(t, []byte(`{"requests":[{"flagKey":"f","context":{"a":"b"}},{}]}`), &evaluation.BatchEvaluationRequest{}, values)
	}
}

// withRoom returns a copy of the message with an empty context map to be filled, if it
// has no context.
func withRoom(m proto.Message) proto.Message {
	m = proto.Clone(m)
	if request, ok := m.(*evaluation.EvaluationRequest); ok && request.GetContext() == nil {
		request.Context = map[string]string{}
	}
	return m
}

// checkQuick reads the body into copies of the message, by Unmarshal and by the general
// code, and compares messages and errors.
func checkQuick(t *testing.T, body []byte, m proto.Message, values int) {
	t.Helper()
	want := proto.Clone(m)
	_, wantErr := codec.UnmarshalGeneral(body, want, values)
	for _, got := range []proto.Message{proto.Clone(m), withRoom(m)} {
		gotErr := codec.Unmarshal(body, got, values)
		switch {
		case (gotErr == nil) != (wantErr == nil), gotErr != nil && gotErr.Error() != wantErr.Error():
			t.Errorf("%q: got error %v, want %v", body, gotErr, wantErr)
		case gotErr == nil && !proto.Equal(got, want):
			t.Errorf("%q: got %v, want %v", body, got, want)
		}
	}
}

// FuzzQuick checks that both paths read every body alike.
func FuzzQuick(f *testing.F) {
	for _, test := range quickBodies {
		if len(test.body) < 1<<10 {
			f.Add([]byte(test.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checkQuick(t, body, &evaluation.EvaluationRequest{}, 100_000)
		checkQuick(t, body, &evaluation.BatchEvaluationRequest{}, 100_000)
	})
}

// quickAnswers returns evaluation responses that together use every field.
func quickAnswers() []proto.Message {
	at := created(678_901_234)
	boolean := &evaluation.BooleanEvaluationResponse{
		Enabled: true, Reason: evaluation.EvaluationReason_MATCH_EVALUATION_REASON, RequestId: "r\"\\\x01\xff", RequestDurationMillis: 0.041,
		Timestamp: at, FlagKey: "Zoë", SegmentKeys: []string{"a", "b<&>"},
	}
	variant := &evaluation.VariantEvaluationResponse{
		Match: true, SegmentKeys: []string{"premium"}, Reason: evaluation.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON,
		VariantKey: "blue", VariantAttachment: `{"hex":"#00f"}`, RequestId: "r", RequestDurationMillis: 0.041, Timestamp: at, FlagKey: "colour",
	}
	later := proto.CloneOf(boolean)
	later.Timestamp, later.RequestDurationMillis, later.Reason = created(0), 1e-9, 77
	slower := proto.CloneOf(boolean)
	slower.Timestamp, slower.RequestDurationMillis = at, 7
	batch := &evaluation.BatchEvaluationResponse{RequestId: "b", RequestDurationMillis: 1e21, Responses: []*evaluation.EvaluationResponse{
		{Type: evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE, Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: boolean}},
		{Type: evaluation.EvaluationResponseType_VARIANT_EVALUATION_RESPONSE_TYPE, Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: variant}},
		{Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: slower}},
		{Type: evaluation.EvaluationResponseType_BOOLEAN_EVALUATION_RESPONSE_TYPE, Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: later}},
		{Type: evaluation.EvaluationResponseType_ERROR_EVALUATION_RESPONSE_TYPE, Response: &evaluation.EvaluationResponse_ErrorResponse{
			ErrorResponse: &evaluation.ErrorEvaluationResponse{FlagKey: "f", NamespaceKey: "n", Reason: evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON},
		}},
		{Response: &evaluation.EvaluationResponse_VariantResponse{}},
		{Type: 9},
		nil,
	}}
	odd := proto.CloneOf(variant)
	odd.Timestamp, odd.RequestDurationMillis = nil, math.Inf(-1)
	return []proto.Message{
		boolean, variant, later, batch, odd,
		&evaluation.BooleanEvaluationResponse{}, &evaluation.VariantEvaluationResponse{}, &evaluation.BatchEvaluationResponse{},
		(*evaluation.BooleanEvaluationResponse)(nil), (*evaluation.VariantEvaluationResponse)(nil), (*evaluation.BatchEvaluationResponse)(nil),
	}
}

// TestQuickAnswers checks that both paths write every response alike, and append it.
func TestQuickAnswers(t *testing.T) {
	if !quick.Enabled {
		t.Skip("there is one path only")
	}
	for _, m := range quickAnswers() {
		got, fast, err := codec.AppendQuick([]byte("before "), m)
		if !fast || err != nil {
			t.Errorf("%v: written by the fast path: %t, error %v", m, fast, err)
		}
		want, err := codec.AppendGeneral([]byte("before "), m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestQuickAnswerError checks that a timestamp out of range is an error, even if only one
// response of a batch has it.
func TestQuickAnswerError(t *testing.T) {
	at := &timestamppb.Timestamp{Nanos: -1}
	bad := &evaluation.BooleanEvaluationResponse{Timestamp: at}
	one := &evaluation.EvaluationResponse{Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: bad}}
	for _, m := range []proto.Message{
		bad,
		&evaluation.VariantEvaluationResponse{Timestamp: at},
		&evaluation.BatchEvaluationResponse{Responses: []*evaluation.EvaluationResponse{{}, one, one, {}}},
	} {
		_, want := codec.AppendGeneral(nil, m)
		if _, got := codec.Append(nil, m); got == nil || got.Error() != want.Error() {
			t.Errorf("%v: got error %v, want %v", m, got, want)
		}
	}
}

// FuzzQuickAnswer checks that both paths write any response alike.
func FuzzQuickAnswer(f *testing.F) {
	f.Add(true, int32(2), "r", 0.041, int64(1_767_323_045), int32(678_901_234), "f", "s", "v")
	f.Add(false, int32(-1), "\xff\"", math.NaN(), int64(-62_135_596_801), int32(0), "\u2028", "", "{}")
	f.Fuzz(func(t *testing.T, yes bool, reason int32, id string, duration float64, seconds int64, nanos int32, flag, segment, variant string) {
		at := &timestamppb.Timestamp{Seconds: seconds, Nanos: nanos}
		boolean := &evaluation.BooleanEvaluationResponse{
			Enabled: yes, Reason: evaluation.EvaluationReason(reason), RequestId: id, RequestDurationMillis: duration,
			Timestamp: at, FlagKey: flag, SegmentKeys: []string{segment},
		}
		other := &evaluation.VariantEvaluationResponse{
			Match: yes, SegmentKeys: []string{segment, segment}, Reason: evaluation.EvaluationReason(reason), VariantKey: variant,
			VariantAttachment: variant, RequestId: id, RequestDurationMillis: duration, Timestamp: at, FlagKey: flag,
		}
		for _, m := range []proto.Message{boolean, other, &evaluation.BatchEvaluationResponse{
			RequestId: id, RequestDurationMillis: duration, Responses: []*evaluation.EvaluationResponse{
				{Type: evaluation.EvaluationResponseType(reason), Response: &evaluation.EvaluationResponse_VariantResponse{VariantResponse: other}},
				{Response: &evaluation.EvaluationResponse_BooleanResponse{BooleanResponse: boolean}},
			},
		}} {
			got, gotErr := codec.Append(nil, m)
			want, wantErr := codec.AppendGeneral(nil, m)
			if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
				t.Fatalf("got error %v, want %v", gotErr, wantErr)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}
	})
}
