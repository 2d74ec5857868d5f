package valuewords_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/web/valuewords"
)

// valueOf returns the value with the JSON form.
func valueOf(t *testing.T, text string) *structpb.Value {
	t.Helper()
	if text == "" {
		return nil
	}
	value := new(structpb.Value)
	if err := protojson.Unmarshal([]byte(text), value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestValue: each kind of value is said as pages say it, and no API name is left.
func TestValue(t *testing.T) {
	named := valuewords.Object{Segment: func(key string) string { return "the " + key }}
	for _, test := range []struct{ name, path, value, want string }{
		{"none", "name", "", ""},
		{"text", "name", `"Wishes"`, "Wishes"},
		{"control characters", "description", `"a\u0007b"`, "ab"},
		{"on", "enabled", `true`, "On"},
		{"off", `rollouts["a"].value`, `false`, "Off"},
		{"another boolean", `metadata["a"]`, `false`, "false"},
		{"share", `rollouts["a"].percentage`, `12.5`, "12.5%"},
		{"number", `metadata["a"]`, `12.5`, "12.5"},
		{"operator", `rules["a"].segmentOperator`, `"AND_SEGMENT_OPERATOR"`, "in all of them"},
		{"a name like an operator", "name", `"AND_SEGMENT_OPERATOR"`, "AND_SEGMENT_OPERATOR"},
		{"segments", `rules["a"].segmentKeys`, `["staff","fans"]`, "the staff, the fans"},
		{"tags", `metadata["tags"]`, `["a","b"]`, "a, b"},
		{"shares", `rules["a"].distributions`, `[{"variant":"a","rollout":25},{"variant":"b","rollout":75}]`, "a 25%, b 75%"},
		{"rule", `rules["a"]`, `{"segmentKeys":["staff"],"distributions":[{"variant":"a","rollout":100}]}`, "the staff: a 100%"},
		{"step", `rollouts["a"]`, `{"threshold":{"percentage":30,"value":true}}`, "30% of everyone: On"},
		{"condition", `constraints["a"]`, `{"type":"STRING_COMPARISON_TYPE","property":"country","operator":"eq","value":"DE"}`, "country is DE"},
		{"something else", `metadata["a"]`, `{"b":[1]}`, `{"b":[1]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := named.Value(test.path, valueOf(t, test.value)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestOrder: parts without keys are numbered as they were.
func TestOrder(t *testing.T) {
	if got := valuewords.Order("rules.order", valueOf(t, `["c","a","b"]`), valueOf(t, `["a","b","c"]`)); got != "3, 1, 2" {
		t.Errorf("got %q", got)
	}
	if got := valuewords.Order("variants.order", valueOf(t, `["blue","red"]`), nil); got != "blue, red" {
		t.Errorf("got %q", got)
	}
}
