package document_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

func encode(t *testing.T, format document.Format, documents ...*service.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := document.Encode(&out, format, documents); err != nil {
		t.Fatalf("Encode %v: %v", format, err)
	}
	return out.String()
}

// assertRoundTrip checks that the documents are the same after encoding and decoding in
// both formats.
func assertRoundTrip(t *testing.T, documents []*service.Document) {
	t.Helper()
	for _, format := range []document.Format{document.YAML, document.JSON} {
		written := encode(t, format, documents...)
		again, err := document.Decode([]byte(written), format, document.RejectUnknown)
		if err != nil {
			t.Fatalf("%v does not decode: %v\n%s", format, err, written)
		}
		if diff := cmp.Diff(documents, again); diff != "" {
			t.Errorf("%v (-before +after):\n%s\n%s", format, diff, written)
		}
		if rewritten := encode(t, format, again...); rewritten != written {
			t.Errorf("%v is encoded differently the second time:\n%s\n%s", format, written, rewritten)
		}
	}
}

// ranked returns the document in the form in which it is encoded: rules are sorted by rank,
// and their ranks are zero.
func ranked(d *service.Document) *service.Document {
	for _, f := range d.Flags {
		f.Rules = service.RulesByRank(f.Rules)
		for _, r := range f.Rules {
			r.Rank = 0
		}
	}
	return d
}

// everything returns documents that have each member once in a full and once in a sparse
// form (contract 13.2).
func everything() []*service.Document {
	return []*service.Document{
		{
			Namespace: service.DocumentNamespace{Key: "shop", Name: "Shop", Description: "Sells things", Color: guidon.Violet, ConfirmChanges: new(true)},
			Flags: []*guidon.Flag{
				{
					Key: "colour", Name: "Colour", Description: "two\nlines", Enabled: true, Metadata: []byte(`{"z":1.50,"a":[]}`), DefaultVariantID: "red",
					Variants: []*guidon.Variant{
						{Key: "red", Name: "Red", Description: "warm", Attachment: `{"hex":"#f00","n":1e2,"deep":{"list":[1,[2],{}]}}`},
						{Key: "yes", Attachment: `"true"`},
						{Key: "5", Attachment: `null`},
					},
					Rules: []*guidon.Rule{
						{SegmentKeys: []string{"all"}, Distributions: []*guidon.Distribution{{VariantID: "red", Rollout: 33.33}, {VariantID: "yes"}}},
						{SegmentKeys: []string{"all", "some"}},
						{SegmentKeys: []string{"all", "some"}, SegmentOperator: guidon.AndSegments},
					},
				},
				{
					Key: "toggle", Name: "Toggle", Type: guidon.BooleanFlag,
					Rollouts: []*guidon.Rollout{
						{Description: "first", Segment: &guidon.RolloutSegment{SegmentKeys: []string{"all"}, Value: true}},
						{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"all", "some"}}},
						{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"all", "some"}, SegmentOperator: guidon.AndSegments, Value: true}},
						{Threshold: &guidon.RolloutThreshold{Percentage: 12.5, Value: true}},
						{Threshold: &guidon.RolloutThreshold{}},
					},
				},
			},
			Segments: []*guidon.Segment{
				{Key: "all", Name: "All"},
				{
					Key: "some", Name: "Some", Description: "Some", MatchType: guidon.MatchAny,
					Constraints: []*guidon.Constraint{
						{Type: guidon.StringComparison, Property: "country", Operator: "isoneof", Value: `["DE","NO"]`, Description: "kept"},
						{Type: guidon.BooleanComparison, Property: "staff", Operator: "true"},
						{Type: guidon.NumberComparison, Property: "age", Operator: "gt", Value: "18"},
					},
				},
			},
		},
		{Namespace: service.DocumentNamespace{Key: "empty"}},
	}
}

const everythingYAML = `version: "1.4"
namespace:
  key: shop
  name: Shop
  description: Sells things
  color: violet
  confirm_changes: true
flags:
  - key: colour
    name: Colour
    type: VARIANT_FLAG_TYPE
    description: |-
      two
      lines
    enabled: true
    metadata:
      z: 1.50
      a: []
    variants:
      - default: true
        key: red
        name: Red
        description: warm
        attachment:
          hex: '#f00'
          "n": 1e2
          deep:
            list:
              - 1
              - - 2
              - {}
      - key: "yes"
        attachment: "true"
      - key: "5"
        attachment: null
    rules:
      - segment: all
        distributions:
          - variant: red
            rollout: 33.33
          - variant: "yes"
            rollout: 0
      - segment:
          keys:
            - all
            - some
          operator: OR_SEGMENT_OPERATOR
      - segment:
          keys:
            - all
            - some
          operator: AND_SEGMENT_OPERATOR
  - key: toggle
    name: Toggle
    type: BOOLEAN_FLAG_TYPE
    enabled: false
    rollouts:
      - description: first
        segment:
          key: all
          value: true
      - segment:
          keys:
            - all
            - some
      - segment:
          keys:
            - all
            - some
          operator: AND_SEGMENT_OPERATOR
          value: true
      - threshold:
          percentage: 12.5
          value: true
      - threshold:
          percentage: 0
segments:
  - key: all
    name: All
    match_type: ALL_MATCH_TYPE
  - key: some
    name: Some
    description: Some
    constraints:
      - type: STRING_COMPARISON_TYPE
        property: country
        operator: isoneof
        value: '["DE","NO"]'
        description: kept
      - type: BOOLEAN_COMPARISON_TYPE
        property: staff
        operator: "true"
      - type: NUMBER_COMPARISON_TYPE
        property: age
        operator: gt
        value: "18"
    match_type: ANY_MATCH_TYPE
---
namespace:
  key: empty
`

func TestEncode(t *testing.T) {
	if diff := cmp.Diff(everythingYAML, encode(t, document.YAML, everything()...)); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	const secondLine = `{"namespace":{"key":"empty"}}` + "\n"
	got := encode(t, document.JSON, everything()...)
	if !strings.HasPrefix(got, `{"version":"1.4","namespace":{"key":"shop",`) || !strings.HasSuffix(got, "}\n"+secondLine) {
		t.Errorf("JSON: got %s", got)
	}
	assertRoundTrip(t, everything())
	for _, format := range []document.Format{document.YAML, document.JSON} {
		if got := encode(t, format); got != "" {
			t.Errorf("no documents in %v: got %q", format, got)
		}
	}
}

// awkwardTexts are strings that YAML might treat as something else.
var awkwardTexts = []string{
	"", " ", "true", "yes", "Off", "y", "null", "~", "1", "1.50", "1e999", "0x1F", "1_000", ".5", ".inf", "2026-01-02", "12:30:45",
	"<<", "=", "-", "- a", "? a", "a: b", "a #b", "#b", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'", `"`, "[a", "{a}", ",",
	"a\nb", "a\nb\n", "a\n\nb\n\n", "\na", "  a\n b", "a \nb", "a\n \nb", "a\tb", "\ta\nb", "a\r\nb", "a\u0085b", "a\u2028b\nc",
	"\x00", "\x7f", "\ufeff", "\ufeffa\nb", "é", "日本語", "🎉", "\U0010FFFF", "---", "--- a", "...", "a\n---\nb", "# a\n# b",
	strings.Repeat("word ", 60) + "end", strings.Repeat("k", 2000),
}

// withText returns a document that has the string in every place for strings.
func withText(t *testing.T, value string) *service.Document {
	t.Helper()
	quoted, err := jsonText(value)
	if err != nil {
		t.Fatal(err)
	}
	return &service.Document{
		Namespace: service.DocumentNamespace{Key: "default", Description: value},
		Flags: []*guidon.Flag{{
			Key: "f", Name: value, Description: value, Metadata: []byte("{" + quoted + ":" + quoted + "}"),
			Variants: []*guidon.Variant{{Key: value, Attachment: "[" + quoted + ",{" + quoted + ":[" + quoted + "]}]"}},
		}},
	}
}

// TestEncodeTexts checks that every string is decoded to the same string.
func TestEncodeTexts(t *testing.T) {
	for _, value := range awkwardTexts {
		assertRoundTrip(t, []*service.Document{withText(t, value)})
	}
}

// TestEncodeYAML11 checks that texts are quoted which YAML 1.1 readers, such as PyYAML, treat as
// something else.
func TestEncodeYAML11(t *testing.T) {
	for _, value := range []string{"16:9", "-10:30", "12:30:45", "190:20:30.15", "1_0:59", ".5_", "1_0.5", "=", "on", "Off"} {
		got := encode(t, document.YAML, &service.Document{Flags: []*guidon.Flag{{Key: "f", Name: value}}})
		if want := "name: \"" + value + "\"\n"; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, value := range []string{"2.4.1", "a:b", "10:99", "fe80:1", "=="} {
		got := encode(t, document.YAML, &service.Document{Flags: []*guidon.Flag{{Key: "f", Name: value}}})
		if want := "name: " + value + "\n"; !strings.Contains(got, want) && !strings.Contains(got, "name: '"+value+"'\n") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, d := range []*service.Document{
		{Flags: []*guidon.Flag{{Variants: []*guidon.Variant{{Attachment: "{"}}}}},
		{Flags: []*guidon.Flag{{Metadata: []byte("{} {}")}}},
	} {
		if err := document.Encode(&bytes.Buffer{}, document.YAML, []*service.Document{d}); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("got %v, want InvalidArgument", err)
		}
	}
}

func TestEncodeOrdersRulesByRank(t *testing.T) {
	d := decodeOne(t, document.YAML, "flags: [{key: f, rules: [{segment: c, rank: 3}, {segment: b}, {segment: a, rank: 1}]}]")
	written := encode(t, document.YAML, d)
	a, b, c := strings.Index(written, "segment: a"), strings.Index(written, "segment: b"), strings.Index(written, "segment: c")
	if !(a < b && b < c) || strings.Contains(written, "rank") {
		t.Errorf("rules are not in the order of their ranks:\n%s", written)
	}
}

func TestDiff(t *testing.T) {
	before, after := everything()[0], everything()[0]
	if got, err := document.Diff(before, after); err != nil || got != "" {
		t.Errorf("equal documents: got %q, %v", got, err)
	}
	after.Flags[0].Variants[0].Name = "Crimson"
	got, err := document.Diff(before, after)
	if err != nil || !strings.Contains(got, "-        name: Red\n+        name: Crimson\n") {
		t.Errorf("got %v\n%s", err, got)
	}
	if got, err := document.Diff(nil, after); err != nil || !strings.Contains(got, "+  - key: toggle\n") {
		t.Errorf("creation: got %v\n%s", err, got)
	}
	if got, err := document.Diff(before, nil); err != nil || !strings.Contains(got, "-  - key: toggle\n") {
		t.Errorf("deletion: got %v\n%s", err, got)
	}
}

// TestDecodeExported checks that an exported file is encoded to the same bytes again.
func TestDecodeExported(t *testing.T) {
	for path, format := range map[string]document.Format{"../examples/shop.yaml": document.YAML, "../examples/shop.json": document.JSON} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		documents, err := document.Decode(file, format, document.RejectUnknown)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(file), encode(t, format, documents...)); diff != "" {
			t.Errorf("%s (-file +written):\n%s", path, diff)
		}
		assertRoundTrip(t, documents)
	}
}
