package codec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestUnmarshal tests the rows of contract 1.2.
func TestUnmarshal(t *testing.T) {
	threshold := func(percentage float32) proto.Message {
		return &flipt.CreateRolloutRequest{Rule: &flipt.CreateRolloutRequest_Threshold{
			Threshold: &flipt.RolloutThreshold{Percentage: percentage}}}
	}
	segment := &flipt.CreateRolloutRequest{Rule: &flipt.CreateRolloutRequest_Segment{
		Segment: &flipt.RolloutSegment{SegmentKeys: []string{"s"}}}}
	at := func(seconds int64, nanos int32) proto.Message {
		return &auth.CreateTokenRequest{ExpiresAt: &timestamppb.Timestamp{Seconds: seconds, Nanos: nanos}}
	}
	tests := []struct {
		name string
		body string
		want proto.Message
	}{
		// Field names.
		{"camelCase", `{"flagKey":"f","entityId":"e"}`, &evaluation.EvaluationRequest{FlagKey: "f", EntityId: "e"}},
		{"snake_case, as the Python SDK", `{"flag_key":"f","entity_id":"e"}`, &evaluation.EvaluationRequest{FlagKey: "f", EntityId: "e"}},
		{"both, camelCase first", `{"flagKey":"camel","flag_key":"snake"}`, &evaluation.EvaluationRequest{FlagKey: "camel"}},
		{"both, camelCase last", `{"flag_key":"snake","flagKey":"camel"}`, &evaluation.EvaluationRequest{FlagKey: "camel"}},
		{"both, camelCase null", `{"flagKey":null,"flag_key":"snake"}`, &evaluation.EvaluationRequest{}},
		{"name of escapes", `{"fl\u0061gKey":"f"}`, &evaluation.EvaluationRequest{FlagKey: "f"}},
		{"names are case-sensitive", `{"FlagKey":"f","flagkey":"f"}`, &evaluation.EvaluationRequest{}},
		{"one name twice: the last value, whole", `{"context":{"a":"1"},"context":{"b":"2"}}`,
			&evaluation.EvaluationRequest{Context: map[string]string{"b": "2"}}},
		{"one name twice: null last", `{"flagKey":"f","flagKey":null}`, &evaluation.EvaluationRequest{}},
		{"one list twice", `{"ruleIds":["a","b"],"ruleIds":["c"]}`, &flipt.OrderRulesRequest{RuleIds: []string{"c"}}},

		// Unknown fields.
		{"unknown field", `{"environmentKey":"x","flagKey":"f"}`, &evaluation.EvaluationRequest{FlagKey: "f"}},
		{"unknown field of any shape", `{"x":{"y":[1,-2.5e3,true,false,null,"\n",{}]},"flagKey":"f"}`, &evaluation.EvaluationRequest{FlagKey: "f"}},

		// null.
		{"null scalars", `{"flagKey":null,"reference":null}`, &evaluation.EvaluationRequest{}},
		{"null bool, int, enum", `{"enabled":null,"type":null}`, &flipt.CreateFlagRequest{}},
		{"null list", `{"requests":null}`, &evaluation.BatchEvaluationRequest{}},
		{"null map", `{"context":null}`, &evaluation.EvaluationRequest{}},
		{"null object", `{"metadata":null}`, &flipt.CreateFlagRequest{}},
		{"null timestamp", `{"expiresAt":null}`, &auth.CreateTokenRequest{}},
		{"null in a string map", `{"context":{"a":null,"b":"x"}}`, &evaluation.EvaluationRequest{Context: map[string]string{"a": "", "b": "x"}}},
		{"null in a list", `{"ruleIds":["a",null]}`, &flipt.OrderRulesRequest{RuleIds: []string{"a", ""}}},
		{"null in a list of objects", `{"requests":[null]}`, &evaluation.BatchEvaluationRequest{Requests: []*evaluation.EvaluationRequest{{}}}},

		// Numbers.
		{"number as a string", `{"rank":"1"}`, &flipt.CreateRuleRequest{Rank: 1}},
		{"whole number with a point", `{"rank":1.0}`, &flipt.CreateRuleRequest{Rank: 1}},
		{"whole number with an exponent", `{"rank":1e2}`, &flipt.CreateRuleRequest{Rank: 100}},
		{"whole number with a negative exponent", `{"rank":-1200E-2}`, &flipt.CreateRuleRequest{Rank: -12}},
		{"zero in many ways", `{"rank":-0.00e+7}`, &flipt.CreateRuleRequest{}},
		{"greatest int32", `{"rank":2147483647}`, &flipt.CreateRuleRequest{Rank: 2147483647}},
		{"least int32", `{"rank":-2.147483648e9}`, &flipt.CreateRuleRequest{Rank: -2147483648}},
		{"int64 beyond 2^53", `{"revision":9007199254740993}`, &guidonv1.ImportResponse{Revision: 9007199254740993}},
		{"float", `{"rollout":33.33}`, &flipt.CreateDistributionRequest{Rollout: 33.33}},
		{"float as a string", `{"rollout":"33.33"}`, &flipt.CreateDistributionRequest{Rollout: 33.33}},
		{"float too small to tell from zero", `{"rollout":1e-99}`, &flipt.CreateDistributionRequest{}},

		// Booleans and enums.
		{"booleans", `{"enabled":true}`, &flipt.CreateFlagRequest{Enabled: true}},
		{"enum by name", `{"type":"BOOLEAN_FLAG_TYPE"}`, &flipt.CreateFlagRequest{Type: 1}},
		{"enum by number", `{"type":1}`, &flipt.CreateFlagRequest{Type: 1}},
		{"unknown number of an enum", `{"type":99}`, &flipt.CreateFlagRequest{Type: 99}},

		// Timestamps.
		{"timestamp", `{"expiresAt":"2026-01-02T03:04:05Z"}`, at(1767323045, 0)},
		{"timestamp with fraction and offset", `{"expiresAt":"2026-01-02T05:34:05.5+02:30"}`, at(1767323045, 500_000_000)},
		{"timestamp with nanoseconds", `{"expires_at":"2026-01-02T03:04:05.123456789Z"}`, at(1767323045, 123456789)},
		{"first timestamp", `{"expiresAt":"0001-01-01T00:00:00Z"}`, at(-62135596800, 0)},
		{"last timestamp", `{"expiresAt":"9999-12-31T23:59:59.999999999Z"}`, at(253402300799, 999_999_999)},

		// Whole bodies.
		{"empty body", "", &flipt.CreateFlagRequest{}},
		{"body of white space", " \r\n\t", &flipt.CreateFlagRequest{}},
		{"top-level null", " null", &flipt.CreateFlagRequest{}},
		{"bytes after the value", "{\"key\":\"k\"} ]\xff", &flipt.CreateFlagRequest{Key: "k"}},
		{"white space everywhere", "\n{ \"key\" :\t\"k\" ,\r\"enabled\": true } ", &flipt.CreateFlagRequest{Key: "k", Enabled: true}},
		{"Empty takes an object", `{"a":[1]}`, &emptypb.Empty{}},
		{"Empty takes anything", `[1]`, &emptypb.Empty{}},

		// Both members of a oneof.
		{"segment then threshold", `{"segment":{"segmentKeys":["s"]},"threshold":{"percentage":5}}`, threshold(5)},
		{"threshold then segment", `{"threshold":{"percentage":5},"segment":{"segmentKeys":["s"]}}`, threshold(5)},
		{"segment and a null threshold", `{"segment":{"segmentKeys":["s"]},"threshold":null}`, segment},
		{"threshold and a null segment", `{"threshold":{"percentage":5},"segment":null}`, threshold(5)},

		// Strings.
		{"escapes", `{"name":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, &flipt.CreateFlagRequest{Name: "\"\\/\b\f\n\r\té😀"}},
		{"half a surrogate pair", `{"name":"\ud83dx\ude00"}`, &flipt.CreateFlagRequest{Name: "\uFFFDx\uFFFD"}},
		{"high surrogate before an ordinary escape", `{"name":"\ud83d\u0041"}`, &flipt.CreateFlagRequest{Name: "\uFFFDA"}},
		{"attachment is text", `{"attachment":"{\"a\":1}"}`, &flipt.CreateVariantRequest{Attachment: `{"a":1}`}},

		// Metadata is any object.
		{"metadata", `{"metadata":{"a":[1,"x",true,null,{}],"b":{"c":1.5}}}`, &flipt.CreateFlagRequest{Metadata: object(t, map[string]any{
			"a": []any{1, "x", true, nil, map[string]any{}}, "b": map[string]any{"c": 1.5}})}},
		{"empty metadata is not absent metadata", `{"metadata":{}}`, &flipt.UpdateFlagRequest{Metadata: &structpb.Struct{}}},
		{"names in metadata are kept", `{"metadata":{"snake_case":1}}`, &flipt.CreateFlagRequest{Metadata: object(t, map[string]any{"snake_case": 1})}},

		// Nesting at the limit: the outer object and the metadata are two levels.
		{"64 levels", `{"metadata":{"a":` + nested(62) + `}}`, &flipt.CreateFlagRequest{Metadata: &structpb.Struct{
			Fields: map[string]*structpb.Value{"a": nestedValue(62)}}}},
		{"64 levels in an unknown field", `{"x":` + nested(63) + `}`, &flipt.CreateFlagRequest{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.want.ProtoReflect().New().Interface()
			if err := codec.Unmarshal([]byte(tt.body), got, 100_000); err != nil {
				t.Fatalf("Unmarshal(%s): %v", tt.body, err)
			}
			if !proto.Equal(got, tt.want) { // cmp takes exponential time for deep values
				t.Errorf("Unmarshal(%s)\n got %v\nwant %v", tt.body, got, tt.want)
			}
		})
	}
}

// TestUnmarshalErrors tests the 400s of contract 1.2.
func TestUnmarshalErrors(t *testing.T) {
	const (
		invalid = "invalid values for key(s) in json body"
		deep    = "json body is nested too deeply"
		notUTF8 = "json body is not valid UTF-8"
	)
	tests := []struct {
		name string
		into proto.Message
		body string
		want string
	}{
		{"number in a string map", &evaluation.EvaluationRequest{}, `{"context":{"a":1}}`, invalid},
		{"bool in a string map", &evaluation.EvaluationRequest{}, `{"context":{"a":true}}`, invalid},
		{"object in a string map", &auth.CreateTokenRequest{}, `{"metadata":{"a":{}}}`, invalid},
		{"string for a bool", &flipt.CreateFlagRequest{}, `{"enabled":"true"}`, invalid},
		{"number for a bool", &flipt.CreateFlagRequest{}, `{"enabled":1}`, invalid},
		{"number for a string", &flipt.CreateFlagRequest{}, `{"key":1}`, invalid},
		{"object for a list, as the PHP SDK", &evaluation.BatchEvaluationRequest{}, `{"requests":{"0":{}}}`, invalid},
		{"list for an object", &flipt.CreateFlagRequest{}, `{"metadata":[]}`, invalid},
		{"string for an object", &flipt.CreateRolloutRequest{}, `{"threshold":"50"}`, invalid},
		{"list for a string", &flipt.CreateFlagRequest{}, `{"key":["k"]}`, invalid},
		{"wrong type in snake_case beside camelCase", &evaluation.EvaluationRequest{}, `{"flagKey":"f","flag_key":1}`, invalid},

		{"fraction for an integer", &flipt.CreateRuleRequest{}, `{"rank":1.5}`, invalid},
		{"integer beyond 32 bits", &flipt.CreateRuleRequest{}, `{"rank":2147483648}`, invalid},
		{"integer with a large exponent", &flipt.CreateRuleRequest{}, `{"rank":1e999999999}`, invalid},
		{"integer with an exponent beyond 64 bits", &flipt.CreateRuleRequest{}, `{"rank":1e99999999999999999999}`, invalid},
		{"string that is not a number", &flipt.CreateRuleRequest{}, `{"rank":"one"}`, invalid},
		{"empty string for a number", &flipt.CreateRuleRequest{}, `{"rank":""}`, invalid},
		{"space in a quoted number", &flipt.CreateRuleRequest{}, `{"rank":" 1"}`, invalid},
		{"hexadecimal float", &flipt.CreateDistributionRequest{}, `{"rollout":"0x1p4"}`, invalid},
		{"float beyond 32 bits", &flipt.CreateDistributionRequest{}, `{"rollout":1e39}`, invalid},
		{"NaN", &flipt.CreateDistributionRequest{}, `{"rollout":"NaN"}`, invalid},
		{"number in metadata beyond 64 bits", &flipt.CreateFlagRequest{}, `{"metadata":{"a":1e400}}`, invalid},

		{"unknown name of an enum", &flipt.CreateFlagRequest{}, `{"type":"X"}`, `unknown value "X" for enum flipt.FlagType`},
		{"enum names are exact", &flipt.CreateFlagRequest{}, `{"type":"boolean_flag_type"}`, `unknown value "boolean_flag_type" for enum flipt.FlagType`},
		{"enum name of another package", &evaluation.EvaluationSegment{}, `{"matchType":"ALL_MATCH_TYPE"}`,
			`unknown value "ALL_MATCH_TYPE" for enum flipt.evaluation.EvaluationSegmentMatchType`},
		{"long enum name", &flipt.CreateFlagRequest{}, `{"type":"` + strings.Repeat("x", 5000) + `"}`,
			`unknown value "` + strings.Repeat("x", 100) + `…" for enum flipt.FlagType`},
		{"enum number beyond 32 bits", &flipt.CreateFlagRequest{}, `{"type":4294967296}`, invalid},
		{"bool for an enum", &flipt.CreateFlagRequest{}, `{"type":true}`, invalid},

		{"date only for a timestamp", &auth.CreateTokenRequest{}, `{"expiresAt":"2026-01-02"}`, invalid},
		{"number for a timestamp", &auth.CreateTokenRequest{}, `{"expiresAt":1767323045}`, invalid},
		{"hour of one digit", &auth.CreateTokenRequest{}, `{"expiresAt":"2026-01-02T3:04:05Z"}`, invalid},
		{"comma before the fraction", &auth.CreateTokenRequest{}, `{"expiresAt":"2026-01-02T03:04:05,5Z"}`, invalid},
		{"timestamp before year 1", &auth.CreateTokenRequest{}, `{"expiresAt":"0001-01-01T00:00:00+00:01"}`, invalid},
		{"timestamp after year 9999", &auth.CreateTokenRequest{}, `{"expiresAt":"9999-12-31T23:59:59-00:01"}`, invalid},

		{"top-level list", &flipt.CreateFlagRequest{}, `[]`, invalid},
		{"top-level string", &flipt.CreateFlagRequest{}, `"x"`, invalid},
		{"top-level number", &flipt.CreateFlagRequest{}, `1`, invalid},
		{"top-level bool", &flipt.CreateFlagRequest{}, `true`, invalid},

		{"invalid UTF-8 in a value", &flipt.CreateFlagRequest{}, "{\"key\":\"\xff\"}", notUTF8},
		{"invalid UTF-8 in a name", &flipt.CreateFlagRequest{}, "{\"\xff\":1}", notUTF8},
		{"invalid UTF-8 after a wrong type", &flipt.CreateFlagRequest{}, "{\"key\":1,\"name\":\"\xc3\"}", notUTF8},
		{"surrogate in UTF-8", &flipt.CreateFlagRequest{}, "{\"key\":\"\xed\xa0\x80\"}", notUTF8},

		{"65 levels of metadata", &flipt.CreateFlagRequest{}, `{"metadata":{"a":` + nested(63) + `}}`, deep},
		{"65 levels of an unknown field", &flipt.CreateFlagRequest{}, `{"x":` + nested(64) + `}`, deep},
		{"very deep nesting", &flipt.CreateFlagRequest{}, strings.Repeat(`{"x":`, 1_000_000), deep},
		{"very deep nesting into Empty", &emptypb.Empty{}, strings.Repeat(`[`, 1_000_000), deep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := codec.Unmarshal([]byte(tt.body), tt.into, 100_000)
			checkInvalid(t, err, tt.want)
		})
	}
}

// TestUnmarshalMalformed checks that the message is that of encoding/json, whatever else
// is wrong with the body (contract 1.2).
func TestUnmarshalMalformed(t *testing.T) {
	bodies := []string{
		`{`, `}`, `{"key"`, `{"key"}`, `{"key":}`, `{"key":"k"`, `{"key":"k",}`, `{key:1}`, `{'key':1}`, `{"key":"k" "name":1}`,
		`[1,]`, `[1 2]`, `"x`, `nul`, `tru`, `falze`, `-`, `{"rank":01}`, `{"rank":1.}`, `{"rank":.5}`, `{"rank":1e}`, `{"rank":+1}`, `{"rank":-x}`,
		`{"key":"\x"}`, `{"key":"\u12g4"}`, `{"key":"\u12`, `{"key":"\`, "{\"key\":\"a\nb\"}", "{\"key\":\"\x00\"}", "\x00", "\uFEFF{}",
		`{"key":1,"name":`, `{"enabled":"yes"]`, `{"x":[}`, `{"type":"X",`, "{\"key\":\"\xff\",",
	}
	for _, body := range bodies {
		var first json.RawMessage
		want := json.NewDecoder(strings.NewReader(body)).Decode(&first)
		if want == nil {
			t.Fatalf("encoding/json accepts %s", body)
		}
		for _, into := range []proto.Message{&flipt.CreateFlagRequest{}, &emptypb.Empty{}} {
			t.Run(body, func(t *testing.T) {
				checkInvalid(t, codec.Unmarshal([]byte(body), into, 100_000), want.Error())
			})
		}
	}
}

// checkInvalid checks that err is an InvalidArgument with exactly this message.
func checkInvalid(t *testing.T, err error, want string) {
	t.Helper()
	refused, ok := errors.AsType[*guidon.Error](err)
	if !ok || refused.Code != guidon.InvalidArgument {
		t.Fatalf("got error %v, want an InvalidArgument", err)
	}
	if refused.Message != want {
		t.Errorf("message\n got %s\nwant %s", refused.Message, want)
	}
}

func object(t *testing.T, fields map[string]any) *structpb.Struct {
	t.Helper()
	made, err := structpb.NewStruct(fields)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// nested returns lists nested that many levels deep.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func nestedValue(levels int) *structpb.Value {
	list := &structpb.ListValue{}
	if levels > 1 {
		list.Values = []*structpb.Value{nestedValue(levels - 1)}
	}
	return structpb.NewListValue(list)
}
