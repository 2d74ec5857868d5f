package service

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

// TestCheckNewKey covers the checks of namespaces, flags and segments, in the order of
// contract 4.1, and the lengths that contract 15 rejects.
func TestCheckNewKey(t *testing.T) {
	const letters = "invalid field key: contains invalid characters"
	tests := []struct {
		name      string
		key, text string
		want      string
	}{
		{"plain", "new-checkout_2", "New checkout", ""},
		{"comma", "a,b", "x", ""},
		{"both missing", "", "", "invalid field key: must not be empty"},
		{"key before name", "a b", "", letters},
		{"no name", "a", "", "invalid field name: must not be empty"},
		{"dot", "a.b", "x", letters},
		{"slash", "a/b", "x", letters},
		{"space", "a b", "x", letters},
		{"umlaut", "ünïcode", "x", letters},
		{"line end", "a\n", "x", letters},
		{"255 characters", strings.Repeat("k", 255), strings.Repeat("é", 255), ""},
		{"256 characters of key", strings.Repeat("k", 256), "x", "invalid field key: must not be longer than 255 characters"},
		{"256 characters of name", "k", strings.Repeat("é", 256), "invalid field name: must not be longer than 255 characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, checkNewKey(tt.key, tt.text), tt.want)
		})
	}
}

// TestRequireAll reports the first failure.
func TestRequireAll(t *testing.T) {
	wantError(t, requireAll(field{"id", "1"}, field{"flagKey", "f"}), "")
	wantError(t, requireAll(field{"id", ""}, field{"flagKey", ""}), "invalid field id: must not be empty")
	wantError(t, requireAll(field{"id", "1"}, field{"flagKey", ""}), "invalid field flagKey: must not be empty")
}

// TestCheckAttachment covers contract 4.2: validity is checked before size, the size is
// that in bytes as sent, and the stored form is compacted.
func TestCheckAttachment(t *testing.T) {
	const (
		notJSON = "invalid field attachment: must be a json string"
		tooDeep = "invalid field attachment: must not be nested deeper than 50 levels"
		tooLong = "invalid field attachment: must be less than 1000 KB"
		most    = 1_024_000
	)
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	quoted := func(size int) string { return `"` + strings.Repeat("a", size-2) + `"` }
	tests := []struct {
		name       string
		attachment string
		stored     string
		want       string
	}{
		{"none", "", "", ""},
		{"object", "{ \"a\" : [ 1, 2 ] ,\n\"b\": \"x y\" }", `{"a":[1,2],"b":"x y"}`, ""},
		{"number", " 1.50 ", "1.50", ""},
		{"string", `"text"`, `"text"`, ""},
		{"null", "null", "null", ""},
		{"bool", "true", "true", ""},
		{"special characters", `"<&>\u2028"`, `"<&>\u2028"`, ""},
		{"text", "text", "", notJSON},
		{"white space", "  ", "", notJSON},
		{"two values", "{} {}", "", notJSON},
		{"unfinished", `{"a":`, "", notJSON},
		{"largest", quoted(most), quoted(most), ""},
		{"too large", quoted(most + 1), "", tooLong},
		{"too large before compaction", "1" + strings.Repeat(" ", most), "", tooLong},
		{"neither valid nor small enough", strings.Repeat("a", most+1), "", notJSON},
		{"deepest", nested(50), nested(50), ""},
		{"too deep", nested(51), "", tooDeep},
		{"brackets in a string", `["` + strings.Repeat(`[{\"`, 60) + `"]`, `["` + strings.Repeat(`[{\"`, 60) + `"]`, ""},
		{"bytes, not characters", `"` + strings.Repeat("é", most/2) + `"`, "", tooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := checkAttachment(tt.attachment)
			wantError(t, err, tt.want)
			if got != tt.stored {
				t.Errorf("stored form differs: got %.40q, want %.40q", got, tt.stored)
			}
		})
	}
}

func TestCheckMetadata(t *testing.T) {
	const notObject = "invalid field metadata: must be a json object"
	tests := []struct{ metadata, stored, want string }{
		{"", "", ""},
		{"{}", "", ""}, // clears it
		{"{ }", "", ""},
		{"null", "", ""},
		{`{ "team" : "shop", "n" : 1.0 }`, `{"team":"shop","n":1.0}`, ""},
		{"[]", "", notObject},
		{`"text"`, "", notObject},
		{"{", "", notObject},
	}
	for _, tt := range tests {
		t.Run(tt.metadata, func(t *testing.T) {
			got, err := checkMetadata(json.RawMessage(tt.metadata))
			wantError(t, err, tt.want)
			if string(got) != tt.stored {
				t.Errorf("got %q, want %q", got, tt.stored)
			}
		})
	}
}

// TestCheckSegmentChoice covers contract 4.1 (create rule) and the removal of duplicates
// of contract 2.
func TestCheckSegmentChoice(t *testing.T) {
	tests := []struct {
		name string
		key  string
		keys []string
		kept []string
		want string
	}{
		{"neither", "", nil, nil, "invalid field segmentKey or segmentKeys: must not be empty"},
		{"both", "a", []string{"b"}, nil, "invalid field segmentKey or segmentKeys: only one can be present"},
		{"one", "a", nil, []string{"a"}, ""},
		{"several, in their order", "", []string{"c", "a", "b"}, []string{"c", "a", "b"}, ""},
		{"duplicates, the first kept", "", []string{"b", "a", "b", "a"}, []string{"b", "a"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := checkSegmentChoice(tt.key, tt.keys)
			wantError(t, err, tt.want)
			if diff := cmp.Diff(tt.kept, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckRollout(t *testing.T) {
	const low, high = "invalid field rollout: must be greater than or equal to '0'", "invalid field rollout: must be less than or equal to '100'"
	for rollout, want := range map[float32]string{
		0: "", 0.05: "", 100: "", -0.01: low, 100.01: high,
		float32(math.Inf(1)): high, float32(math.Inf(-1)): low,
	} {
		wantError(t, checkRollout(rollout), want)
	}
	wantError(t, checkRollout(float32(math.NaN())), low)
}

// TestRuleChecks and the following tests cover the checks of contract 4.1 that need no
// store, and their order.
func TestRuleChecks(t *testing.T) {
	s := &Service{}
	tests := []struct {
		name string
		in   RuleInput
		want string
	}{
		{"nothing", RuleInput{}, "invalid field flagKey: must not be empty"},
		{"no segment", RuleInput{FlagKey: "f"}, "invalid field segmentKey or segmentKeys: must not be empty"},
		{"both", RuleInput{FlagKey: "f", SegmentKey: "a", Rule: guidon.Rule{SegmentKeys: []string{"b"}}}, "invalid field segmentKey or segmentKeys: only one can be present"},
		{"no rank", RuleInput{FlagKey: "f", SegmentKey: "a"}, "invalid field rank: must be greater than 0"},
		{"negative rank", RuleInput{FlagKey: "f", SegmentKey: "a", Rule: guidon.Rule{Rank: -1}}, "invalid field rank: must be greater than 0"},
		{"operator", RuleInput{FlagKey: "f", SegmentKey: "a", Rule: guidon.Rule{Rank: 1, SegmentOperator: 2}}, "invalid field segmentOperator: is not a known value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := s.CreateRule(t.Context(), Write{}, "", tt.in)
			wantError(t, err, tt.want)
		})
	}
	wantError(t, failure(s.OrderRules(t.Context(), Write{}, "", "", nil)), "invalid field flagKey: must not be empty")
	wantError(t, failure(s.OrderRules(t.Context(), Write{}, "", "f", []string{"one"})), "invalid field ruleIds: must contain atleast 2 elements")
	wantError(t, failure(s.DeleteRule(t.Context(), Write{}, "", "", "")), "invalid field id: must not be empty")
	wantError(t, failure(s.DeleteRule(t.Context(), Write{}, "", "", "1")), "invalid field flagKey: must not be empty")
}

func TestRolloutChecks(t *testing.T) {
	const percentage = "invalid field threshold.percentage: must be within range [0, 100]"
	s := &Service{}
	half := &guidon.RolloutThreshold{Percentage: 50}
	tests := []struct {
		name           string
		in             RolloutInput
		create, update string
	}{
		{"nothing", RolloutInput{}, "invalid field flagKey: must not be empty", "invalid field id: must not be empty"},
		{"below", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{ID: "1", Threshold: &guidon.RolloutThreshold{Percentage: -1}}}, percentage, percentage},
		{"above", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{ID: "1", Threshold: &guidon.RolloutThreshold{Percentage: 100.5}}}, percentage, percentage},
		{"not a number", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{ID: "1", Threshold: &guidon.RolloutThreshold{Percentage: float32(math.NaN())}}}, percentage, percentage},
		{
			"no segment", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{ID: "1", Segment: &guidon.RolloutSegment{}}},
			"invalid field segmentKey or segmentKeys: must not be empty", "invalid field segmentKey or segmentKeys: must not be empty",
		},
		{
			"both segments", RolloutInput{FlagKey: "f", SegmentKey: "a", Rollout: guidon.Rollout{ID: "1", Segment: &guidon.RolloutSegment{SegmentKeys: []string{"b"}}}},
			"invalid field segmentKey or segmentKeys: only one can be present", "invalid field segmentKey or segmentKeys: only one can be present",
		},
		{"update without flag", RolloutInput{Rollout: guidon.Rollout{ID: "1", Threshold: half}}, "invalid field flagKey: must not be empty", "invalid field flagKey: must not be empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := s.CreateRollout(t.Context(), Write{}, "", tt.in)
			wantError(t, err, tt.create)
			_, _, err = s.UpdateRollout(t.Context(), Write{}, "", tt.in)
			wantError(t, err, tt.update)
		})
	}
	_, _, err := s.UpdateRollout(t.Context(), Write{}, "", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{ID: "1"}})
	wantError(t, err, "invalid field rule: invalid rollout rule type")
	_, _, err = s.CreateRollout(t.Context(), Write{}, "", RolloutInput{FlagKey: "f", Rollout: guidon.Rollout{Rank: -1, Threshold: half}})
	wantError(t, err, "invalid field rank: must be greater than or equal to '0'") // contract 15
	wantError(t, failure(s.OrderRollouts(t.Context(), Write{}, "", "", nil)), "invalid field flagKey: must not be empty")
	wantError(t, failure(s.OrderRollouts(t.Context(), Write{}, "", "f", nil)), "invalid field rolloutIds: must contain atleast 2 elements")
	wantError(t, failure(s.DeleteRollout(t.Context(), Write{}, "", "", "")), "invalid field id: must not be empty")
}

func TestDistributionChecks(t *testing.T) {
	s := &Service{}
	tests := []struct {
		in             DistributionInput
		create, update string
	}{
		{DistributionInput{}, "invalid field flagKey: must not be empty", "invalid field id: must not be empty"},
		{DistributionInput{ID: "1"}, "invalid field flagKey: must not be empty", "invalid field flagKey: must not be empty"},
		{DistributionInput{ID: "1", FlagKey: "f"}, "invalid field ruleId: must not be empty", "invalid field ruleId: must not be empty"},
		{DistributionInput{ID: "1", FlagKey: "f", RuleID: "r"}, "invalid field variantId: must not be empty", "invalid field variantId: must not be empty"},
		{
			DistributionInput{ID: "1", FlagKey: "f", RuleID: "r", VariantID: "v", Rollout: -1},
			"invalid field rollout: must be greater than or equal to '0'", "invalid field rollout: must be greater than or equal to '0'",
		},
		{
			DistributionInput{ID: "1", FlagKey: "f", RuleID: "r", VariantID: "v", Rollout: 101},
			"invalid field rollout: must be less than or equal to '100'", "invalid field rollout: must be less than or equal to '100'",
		},
	}
	for _, tt := range tests {
		t.Run(tt.create+"|"+tt.update, func(t *testing.T) {
			_, _, err := s.CreateDistribution(t.Context(), Write{}, "", tt.in)
			wantError(t, err, tt.create)
			_, _, err = s.UpdateDistribution(t.Context(), Write{}, "", tt.in)
			wantError(t, err, tt.update)
		})
	}
	wantError(t, failure(s.DeleteDistribution(t.Context(), Write{}, "", DistributionInput{})), "invalid field id: must not be empty")
	wantError(t, failure(s.DeleteDistribution(t.Context(), Write{}, "", DistributionInput{ID: "1", FlagKey: "f", RuleID: "r"})), "invalid field variantId: must not be empty")
}

func TestVariantChecks(t *testing.T) {
	s := &Service{}
	_, _, err := s.CreateVariant(t.Context(), Write{}, "", VariantInput{Attachment: "{"})
	wantError(t, err, "invalid field flagKey: must not be empty")
	_, _, err = s.CreateVariant(t.Context(), Write{}, "", VariantInput{FlagKey: "f", Attachment: "{"})
	wantError(t, err, "invalid field key: must not be empty")
	_, _, err = s.CreateVariant(t.Context(), Write{}, "", VariantInput{FlagKey: "f", Key: "any key: no pattern", Attachment: "{"})
	wantError(t, err, "invalid field attachment: must be a json string")
	_, _, err = s.UpdateVariant(t.Context(), Write{}, "", VariantInput{FlagKey: "f", Key: "k"})
	wantError(t, err, "invalid field id: must not be empty")
	wantError(t, failure(s.DeleteVariant(t.Context(), Write{}, "", "", "")), "invalid field id: must not be empty")
	wantError(t, failure(s.DeleteVariant(t.Context(), Write{}, "", "", "1")), "invalid field flagKey: must not be empty")
}

// failure returns the error of a change without a result.
func failure(_ int64, err error) error { return err }
