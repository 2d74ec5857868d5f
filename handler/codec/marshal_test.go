package codec_test

import (
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// created is 2026-01-02T03:04:05 plus some nanoseconds.
func created(nanos int32) *timestamppb.Timestamp {
	return &timestamppb.Timestamp{Seconds: 1767323045, Nanos: nanos}
}

// TestMarshal compares with the samples of contract 3.8 and the rows of 1.3.
func TestMarshal(t *testing.T) {
	tests := []struct {
		name string
		from proto.Message
		want string
	}{
		// Contract 3.8.
		{"create flag", &flipt.Flag{Key: "beta", Name: "Beta", Enabled: true, CreatedAt: created(678901000), UpdatedAt: created(678901000), NamespaceKey: "default"},
			`{"key":"beta","name":"Beta","description":"","enabled":true,"createdAt":"2026-01-02T03:04:05.678901Z","updatedAt":"2026-01-02T03:04:05.678901Z","variants":[],"namespaceKey":"default","type":"VARIANT_FLAG_TYPE"}`},
		{"single-segment rule", &flipt.Rule{Id: "5c0", FlagKey: "beta", SegmentKey: "everyone", Rank: 1, CreatedAt: created(0), UpdatedAt: created(0), NamespaceKey: "default"},
			`{"id":"5c0","flagKey":"beta","segmentKey":"everyone","distributions":[],"rank":1,"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","namespaceKey":"default","segmentKeys":[],"segmentOperator":"OR_SEGMENT_OPERATOR"}`},
		{"threshold rollout", &flipt.Rollout{Id: "9d1", NamespaceKey: "default", FlagKey: "new-ui", Type: flipt.RolloutType_THRESHOLD_ROLLOUT_TYPE, Rank: 1, CreatedAt: created(0), UpdatedAt: created(0),
			Rule: &flipt.Rollout_Threshold{Threshold: &flipt.RolloutThreshold{Percentage: 50, Value: true}}},
			`{"id":"9d1","namespaceKey":"default","flagKey":"new-ui","type":"THRESHOLD_ROLLOUT_TYPE","rank":1,"description":"","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","threshold":{"percentage":50,"value":true}}`},
		{"variant, nothing matched", &evaluation.VariantEvaluationResponse{RequestId: "0b6", RequestDurationMillis: 0.41, Timestamp: created(678901234), FlagKey: "beta"},
			`{"match":false,"segmentKeys":[],"reason":"UNKNOWN_EVALUATION_REASON","variantKey":"","variantAttachment":"","requestId":"0b6","requestDurationMillis":0.41,"timestamp":"2026-01-02T03:04:05.678901234Z","flagKey":"beta"}`},
		{"batch with an unknown flag", &evaluation.BatchEvaluationResponse{RequestId: "7a", RequestDurationMillis: 0.2, Responses: []*evaluation.EvaluationResponse{{
			Type: evaluation.EvaluationResponseType_ERROR_EVALUATION_RESPONSE_TYPE, Response: &evaluation.EvaluationResponse_ErrorResponse{ErrorResponse: &evaluation.ErrorEvaluationResponse{
				FlagKey: "nope", NamespaceKey: "default", Reason: evaluation.ErrorEvaluationReason_NOT_FOUND_ERROR_EVALUATION_REASON}}}}},
			`{"requestId":"7a","responses":[{"type":"ERROR_EVALUATION_RESPONSE_TYPE","errorResponse":{"flagKey":"nope","namespaceKey":"default","reason":"NOT_FOUND_ERROR_EVALUATION_REASON"}}],"requestDurationMillis":0.2}`},
		{"empty list", &flipt.FlagList{}, `{"flags":[],"nextPageToken":"","totalCount":0}`},

		// Contract 1.3.
		{"delete", &emptypb.Empty{}, `{}`},
		{"unset messages are left out", &auth.Authentication{Id: "1"}, `{"id":"1","method":"METHOD_NONE","metadata":{}}`},
		{"set but empty messages are not", &flipt.Flag{DefaultVariant: &flipt.Variant{}, Metadata: &structpb.Struct{}},
			`{"key":"","name":"","description":"","enabled":false,"variants":[],"namespaceKey":"","type":"VARIANT_FLAG_TYPE","defaultVariant":{"id":"","flagKey":"","key":"","name":"","description":"","attachment":"","namespaceKey":""},"metadata":{}}`},
		{"maps are sorted", &auth.Authentication{Metadata: map[string]string{"b": "2", "a": "1", "": "0"}}, `{"id":"","method":"METHOD_NONE","metadata":{"":"0","a":"1","b":"2"}}`},
		{"objects are sorted", object(t, map[string]any{"b": []any{1, 2.5, "x", nil, true}, "a": map[string]any{"d": 1, "c": false}}),
			`{"a":{"c":false,"d":1},"b":[1,2.5,"x",null,true]}`},
		{"enum without a name", &flipt.EvaluationResponse{Reason: 42, SegmentKeys: []string{"s"}},
			`{"requestId":"","entityId":"","requestContext":{},"match":false,"flagKey":"","segmentKey":"","value":"","requestDurationMillis":0,"attachment":"","reason":42,"namespaceKey":"","segmentKeys":["s"]}`},
		{"32-bit floats are short", &flipt.RolloutThreshold{Percentage: 33.33}, `{"percentage":33.33,"value":false}`},
		{"large and small floats", &structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(1e21), structpb.NewNumberValue(1e20), structpb.NewNumberValue(1e-7), structpb.NewNumberValue(-0.000001)}},
			`[1e+21,100000000000000000000,1e-07,-0.000001]`},
		{"NaN and infinities", &structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(math.NaN()), structpb.NewNumberValue(math.Inf(1)), structpb.NewNumberValue(math.Inf(-1))}},
			`["NaN","Infinity","-Infinity"]`},
		{"int64 is a number", &guidonv1.ImportResponse{NamespaceKey: "n", Revision: 9007199254740993},
			`{"namespaceKey":"n","revision":9007199254740993,"dryRun":false,"changes":[],"unchanged":0,"skipped":[]}`},
		{"milliseconds", &guidonv1.ListChangesRequest{Since: created(120_000_000)},
			`{"namespaceKey":"","kind":"","key":"","actor":"","since":"2026-01-02T03:04:05.120Z","limit":0,"pageToken":"","message":"","reason":"","firstRevision":0,"lastRevision":0,"maxObjectBytes":0}`},
		{"<, > and & are not escaped", &evaluation.EvaluationNamespace{Key: "<a href=\"x\">&\u2028</a>"}, "{\"key\":\"<a href=\\\"x\\\">&\u2028</a>\"}"},
		{"control characters", &evaluation.EvaluationNamespace{Key: "\x00\x08\x09\x0a\x0c\x0d\x1f\x7f\\"}, `{"key":"\u0000\b\t\n\f\r\u001f` + "\x7f" + `\\"}`},
		{"invalid UTF-8", &evaluation.EvaluationNamespace{Key: "a\xffb\xc3"}, "{\"key\":\"a\uFFFDb\uFFFD\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := codec.Marshal(tt.from)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMarshalPretty(t *testing.T) {
	from := &flipt.Flag{Key: "beta", CreatedAt: created(0), Variants: []*flipt.Variant{{Key: "v", Attachment: "{}"}, {}},
		Metadata: object(t, map[string]any{"zero": 0})}
	const want = `{
  "key": "beta",
  "createdAt": "2026-01-02T03:04:05Z",
  "variants": [
    {
      "key": "v",
      "attachment": "{}"
    },
    {}
  ],
  "metadata": {
    "zero": 0
  }
}`
	got, err := codec.MarshalPretty(from)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestMarshalErrors checks that a timestamp out of range is an error.
func TestMarshalErrors(t *testing.T) {
	for _, at := range []*timestamppb.Timestamp{{Seconds: 253402300800}, {Seconds: -62135596801}, {Nanos: -1}, {Nanos: 1e9}} {
		from := &flipt.FlagList{Flags: []*flipt.Flag{{CreatedAt: at}}}
		if got, err := codec.Marshal(from); err == nil {
			t.Errorf("Marshal with %v: got %s, want an error", at, got)
		}
		if got, err := codec.MarshalPretty(from); err == nil {
			t.Errorf("MarshalPretty with %v: got %s, want an error", at, got)
		}
	}
}

// TestMarshalTime checks that the fraction has 0, 3, 6 or 9 digits (contract 1.3).
func TestMarshalTime(t *testing.T) {
	for layout, fractions := range map[string][]int{
		"2006-01-02T15:04:05Z":           {0},
		"2006-01-02T15:04:05.000Z":       {1e6, 10e6, 123e6, 999e6},
		"2006-01-02T15:04:05.000000Z":    {1e3, 100e3, 123_456e3, 999_999e3, 100_001e3},
		"2006-01-02T15:04:05.000000000Z": {1, 10, 100, 123_456_789, 999_999_999, 1_000_001},
	} {
		for _, year := range []int{1, 999, 1970, 2026, 9999} {
			for _, nanos := range fractions {
				at := time.Date(year, 1, 2, 3, 4, 5, nanos, time.UTC)
				got, err := jsontext.AppendTime(nil, at)
				if want := `"` + at.Format(layout) + `"`; err != nil || string(got) != want {
					t.Errorf("got %s, error %v, want %s", got, err, want)
				}
			}
		}
	}
}
