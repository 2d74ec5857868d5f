package document_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

func decodeOne(t *testing.T, format document.Format, text string) *service.Document {
	t.Helper()
	documents, err := document.Decode([]byte(text), format, document.RejectUnknown)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	if len(documents) != 1 {
		t.Fatalf("got %d documents, want 1", len(documents))
	}
	return documents[0]
}

// flagWith returns the flag of a YAML document with one flag that has the members.
func flagWith(t *testing.T, members string) *guidon.Flag {
	t.Helper()
	return decodeOne(t, document.YAML, "flags:\n- {"+members+"}\n").Flags[0]
}

func TestDecodeNamespace(t *testing.T) {
	tests := []struct {
		name, text string
		want       service.DocumentNamespace
	}{
		{"missing means the default namespace", "flags: []", service.DocumentNamespace{Key: "default"}},
		{"null means the default namespace", "namespace:", service.DocumentNamespace{Key: "default"}},
		{"a string is the key", "namespace: shop", service.DocumentNamespace{Key: "shop"}},
		{"an object with all members", "namespace: {key: shop, name: Shop, description: Sells, color: teal, confirm_changes: yes}", service.DocumentNamespace{
			Key: "shop", Name: "Shop", Description: "Sells", Color: guidon.Teal, ConfirmChanges: new(true),
		}},
		{"an object with members that are false or null", "namespace: {key: shop, color: ~, confirm_changes: false}", service.DocumentNamespace{Key: "shop", ConfirmChanges: new(false)}},
		{"a null that says nothing", "namespace: {key: shop, confirm_changes: ~}", service.DocumentNamespace{Key: "shop"}},
		{"an object without key", "namespace: {name: Shop}", service.DocumentNamespace{Key: "default", Name: "Shop"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decodeOne(t, document.YAML, test.text).Namespace); diff != "" {
				t.Errorf("namespace (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeFlag(t *testing.T) {
	got := flagWith(t, `key: f, name: 5, enabled: yes, type: , metadata: {b: 1, a: {}},
		variants: [null, {key: a, default: true}, {key: b}],
		rules: [{segment: s}, {segment: {keys: [s], operator: AND_SEGMENT_OPERATOR}, rank: 7},
			{segment: {keys: [s, ~, t], operator: AND_SEGMENT_OPERATOR}, distributions: [{variant: a, rollout: 33.33}]}],
		rollouts: [{segment: {key: s, value: true}}, {segment: {keys: [s, t]}}, {threshold: {percentage: 5, value: on}, description: d}]`)
	want := &guidon.Flag{
		Key: "f", Name: "5", Enabled: true, Metadata: []byte(`{"b":1,"a":{}}`),
		DefaultVariantID: "a", Variants: []*guidon.Variant{{Key: "a"}, {Key: "b"}},
		Rules: []*guidon.Rule{
			{SegmentKeys: []string{"s"}},
			{SegmentKeys: []string{"s"}, Rank: 7},
			{
				SegmentKeys: []string{"s", "t"}, SegmentOperator: guidon.AndSegments,
				Distributions: []*guidon.Distribution{{VariantID: "a", Rollout: 33.33}},
			},
		},
		Rollouts: []*guidon.Rollout{
			{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s"}, Value: true}},
			{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s", "t"}}},
			{Description: "d", Threshold: &guidon.RolloutThreshold{Percentage: 5, Value: true}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flag (-want +got):\n%s", diff)
	}
}

func TestDecodeSegment(t *testing.T) {
	got := decodeOne(t, document.YAML, `
segments:
- key: s
  match_type: # is ALL (contract 13.2)
  constraints:
  - {type: DATETIME_COMPARISON_TYPE, property: day, operator: eq, value: 2026-01-02, description: kept}
  -
  - {type: BOOLEAN_COMPARISON_TYPE, property: staff, operator: true}
`).Segments[0]
	want := &guidon.Segment{Key: "s", Constraints: []*guidon.Constraint{
		{Type: guidon.DateTimeComparison, Property: "day", Operator: "eq", Value: "2026-01-02", Description: "kept"},
		{Type: guidon.BooleanComparison, Property: "staff", Operator: "true"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("segment (-want +got):\n%s", diff)
	}
}

func TestDecodeAttachment(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"nothing", "", ""},
		{"null is a value (contract 4.2)", "null", "null"},
		{"object keeps its order", "{z: 1, a: 2, m: 3}", `{"z":1,"a":2,"m":3}`},
		{"number literals are kept", "[1.20, 1e5, -0, 12345678901234567890123, 0.10]", `[1.20,1e5,-0,12345678901234567890123,0.10]`},
		{"a number out of the range of floats", "1e999", "1e999"},
		{"YAML's own numbers are converted", "[0x1F, 0o17, 1_000, +5, .5, 5.]", `[31,15,1000,5,0.5,5]`},
		{"booleans and null", "[true, False, ~, yes]", `[true,false,null,"yes"]`},
		{"timestamps stay strings", "[2026-01-02, 2026-01-02T03:04:05Z]", `["2026-01-02","2026-01-02T03:04:05Z"]`},
		{"quoted scalars are strings", `["1", 'true', "null"]`, `["1","true","null"]`},
		{"tags decide", `[!!str 1, !!int "2", !!float 3]`, `["1",2,3]`},
		{"strings are not escaped needlessly", `"<a href='x'>&é</a>"`, `"<a href='x'>&é</a>"`},
		{"keys are strings", "{1: a, true: b}", `{"1":"a","true":"b"}`},
		{"anchors", "{a: &x [1, 2], b: *x}", `{"a":[1,2],"b":[1,2]}`},
		{"merge keys: own members win", "{base: &b {x: 1, y: 2}, more: {<<: *b, y: 3}}", `{"base":{"x":1,"y":2},"more":{"x":1,"y":3}}`},
		{"merge keys: the first of several wins", "{a: &a {x: 1}, b: &b {x: 2, y: 2}, c: {<<: [*a, *b]}}", `{"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2}}`},
		{"a quoted merge key is a member name", `{"<<": 1}`, `{"<<":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := flagWith(t, "key: f, variants: [{key: v, attachment: "+test.yaml+"}]")
			if got := f.Variants[0].Attachment; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestDecodeJSON(t *testing.T) {
	const text = "# exported by another tool on some day\n" +
		`{"version":"1.2","namespace":"a","flags":[{"key":"f","variants":[{"key":"v","attachment":{"z":"\u0061","a":1.50,"z":2}}]}]}` + "\n" +
		`{"namespace":{"key":"b"}} null {"segments":null}`
	got, err := document.Decode([]byte(text), document.JSON, document.RejectUnknown)
	if err != nil {
		t.Fatal(err)
	}
	want := []*service.Document{
		{
			Namespace: service.DocumentNamespace{Key: "a"},
			Flags: []*guidon.Flag{{
				Key: "f", Variants: []*guidon.Variant{{Key: "v", Attachment: `{"z":2,"a":1.50}`}},
			}},
		},
		{Namespace: service.DocumentNamespace{Key: "b"}},
		{Namespace: service.DocumentNamespace{Key: "default"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestDecodeStream(t *testing.T) {
	const text = "# a comment\n---\n---\nversion: 1.3\nnamespace: a\n---\n\n---\nversion: 9\nnamespace: b\n...\n"
	documents, err := document.Decode([]byte(text), document.YAML, document.RejectUnknown)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range documents {
		got = append(got, d.Namespace.Key)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	for _, empty := range []string{"", "\n", "# nothing\n", "---\n"} {
		if documents, err := document.Decode([]byte(empty), document.YAML, document.RejectUnknown); err != nil || len(documents) > 0 {
			t.Errorf("Decode(%q) = %d documents, %v", empty, len(documents), err)
		}
	}
}

// TestDecodeVersions reads a file of each old version (contract 13.3).
func TestDecodeVersions(t *testing.T) {
	for _, version := range []string{"1.0", "1.1", "1.2", "1.3"} {
		t.Run(version, func(t *testing.T) {
			text, err := os.ReadFile("../examples/versions/" + version + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			d := decodeOne(t, document.YAML, string(text))
			if err := d.Validate(); err != nil {
				t.Errorf("Validate: %v", err)
			}
			assertRoundTrip(t, []*service.Document{ranked(d)})
		})
	}
	for _, version := range []string{
		"1", "1.0", `"1"`, `"1.0"`, "1.4", "~", "", "v1", "v1.4", "1.4.0", "v1.4.0", "1.3.0", "1.0.0", "1.4.12", "v1.1.10", "guidon/1",
	} {
		if _, err := document.Decode([]byte("version: "+version), document.YAML, document.RejectUnknown); err != nil {
			t.Errorf("version %s: %v", version, err)
		}
	}
	for _, version := range []string{
		"2.0", "0.9", "1.5", "1.40", "1.04", "01.4", "1.4.", "1.4.x", "1.4.01", "1.4.-1", "1.4.0.0", "1.4.0-rc1", "1.4.0+1", "vv1.4", "V1.4", "v", "1e0", "1.",
		".4", "true", `""`, `" 1.4"`, "latest", "guidon/2", "guidon/1.0", "vguidon/1", "Guidon/1",
	} {
		_, err := document.Decode([]byte("version: "+version), document.YAML, document.RejectUnknown)
		if want := "document 1, line 1: version: unsupported version: " + strings.Trim(version, `"`); err == nil || err.Error() != want {
			t.Errorf("version %s: got error %v, want %q", version, err, want)
		}
	}
}

// TestDecodeVersionsInFull checks that all spellings of a version have the same meaning.
func TestDecodeVersionsInFull(t *testing.T) {
	for version, found := range map[string]string{"v1.0": "1.0", "1.0.7": "1.0", "v1": "1.0", "1.2.0": "1.2", "v1.2": "1.2"} {
		_, err := document.Decode([]byte(`{"version":"`+version+`","flags":[{"key":"f","variants":[{"key":"v","default":true}]}]}`), document.JSON, document.RejectUnknown)
		if want := "variant.default is supported in version >=1.3, found " + found; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("version %s: got error %v, want %q", version, err, want)
		}
	}
}

// TestDecodeAdditions: a document with additions is read, and what it has beside them is not
// ignored.
func TestDecodeAdditions(t *testing.T) {
	const text = "version: guidon/1\nsegments:\n- {key: s, constraints: [{type: VERSION_COMPARISON_TYPE, not: true%s}, {type: STRING_COMPARISON_TYPE, not: false}]}"
	got, err := document.Decode([]byte(fmt.Sprintf(text, "")), document.YAML, document.IgnoreUnknown)
	if err != nil {
		t.Fatal(err)
	}
	want := []*guidon.Constraint{{Type: guidon.VersionComparison, Negate: true}, {Type: guidon.StringComparison}}
	if diff := cmp.Diff(want, got[0].Segments[0].Constraints); diff != "" {
		t.Errorf("constraints (-want +got):\n%s", diff)
	}
	_, err = document.Decode([]byte(fmt.Sprintf(text, ", also: true")), document.YAML, document.IgnoreUnknown)
	if want := `document 1, line 3: segments[0] "s": constraints[0]: unknown member "also"`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// TestDecodeRanks checks that rules without a rank are ranked by their positions in the
// first version, as in later ones.
func TestDecodeRanks(t *testing.T) {
	const rules = "flags:\n- {key: f, name: F, rules: [{segment: a}, {segment: b, rank: 7}, {segment: c}]}\n" +
		"segments: [{key: a, name: A}, {key: b, name: B}, {key: c, name: C}]\n"
	first, last := decodeOne(t, document.YAML, "version: 1.0\n"+rules), decodeOne(t, document.YAML, rules)
	if diff := cmp.Diff(last, first); diff != "" {
		t.Errorf("(-1.4 +1.0):\n%s", diff)
	}
	if err := first.Validate(); err != nil {
		t.Error(err)
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name   string
		format document.Format
		text   string
		want   string
	}{
		{"version", document.YAML, "version: 2.0", "document 1, line 1: version: unsupported version: 2.0"},
		{"type before 1.1", document.YAML, "version: 1.0\nflags:\n- key: f\n  type: BOOLEAN_FLAG_TYPE",
			`document 1, line 4: flags[0] "f": type: flag.type is supported in version >=1.1, found 1.0`},
		{"rollouts before 1.1", document.YAML, "version: 1\nflags:\n- key: f\n  rollouts: [{}]",
			`document 1, line 4: flags[0] "f": rollouts[0]: flag.rollouts is supported in version >=1.1, found 1.0`},
		{"rollout keys before 1.2", document.YAML, "version: 1.1\nflags:\n- key: f\n  rollouts: [{segment: {keys: [a]}}]",
			`document 1, line 4: flags[0] "f": rollouts[0]: segment: keys: flag.rollouts.segment.keys is supported in version >=1.2, found 1.1`},
		{"default before 1.3", document.YAML, "version: 1.2\nflags:\n- {key: f, variants: [{key: v, default: true}]}",
			`document 1, line 3: flags[0] "f": variants[0] "v": default: variant.default is supported in version >=1.3, found 1.2`},
		{"not without a version", document.YAML, "segments:\n- {key: s, constraints: [{type: STRING_COMPARISON_TYPE, not: true}]}",
			`document 1, line 2: segments[0] "s": constraints[0]: not: constraint.not is supported in version >=guidon/1, found 1.4`},
		{"type before guidon/1", document.YAML, "version: 1.4\nsegments:\n- {key: s, constraints: [{type: LIST_COMPARISON_TYPE}]}",
			`document 1, line 3: segments[0] "s": constraints[0]: type: LIST_COMPARISON_TYPE is supported in version >=guidon/1, found 1.4`},
		{"version holds for the stream", document.YAML, "version: 1.0\n---\nflags:\n- {key: f, type: BOOLEAN_FLAG_TYPE}",
			`document 2, line 4: flags[0] "f": type: flag.type is supported in version >=1.1, found 1.0`},
		{"key and keys", document.YAML, "flags: [{key: f, rollouts: [{segment: {key: a, keys: [b]}}]}]",
			`document 1, line 1: flags[0] "f": rollouts[0]: segment: invalid field key or keys: only one can be present`},
		{"not an object", document.YAML, "- a", "document 1, line 1: must be an object, not a list"},
		{"list expected", document.YAML, "flags: {}", "document 1, line 1: flags: must be a list, not an object"},
		{"object expected", document.YAML, "flags:\n  - f", "document 1, line 2: flags[0]: must be an object, not a string"},
		{"string expected", document.YAML, "flags: [{key: [a]}]", "document 1, line 1: flags[0]: key: must be a string, not a list"},
		{"boolean expected", document.YAML, `flags: [{enabled: "true"}]`, "document 1, line 1: flags[0]: enabled: must be true or false, not a string"},
		{"integer expected", document.YAML, "flags: [{rules: [{rank: 1.5}]}]", "document 1, line 1: flags[0]: rules[0]: rank: must be a 32-bit integer, not 1.5"},
		{"rank too large", document.YAML, "flags: [{rules: [{rank: 3000000000}]}]", "document 1, line 1: flags[0]: rules[0]: rank: must be a 32-bit integer, not 3000000000"},
		{"number expected", document.YAML, "flags: [{rollouts: [{threshold: {percentage: half}}]}]", "document 1, line 1: flags[0]: rollouts[0]: threshold: percentage: must be a number, not a string"},
		{"NaN", document.YAML, "flags: [{rollouts: [{threshold: {percentage: .nan}}]}]", "document 1, line 1: flags[0]: rollouts[0]: threshold: percentage: must be a number, not .nan"},
		{"metadata must be an object", document.YAML, "flags: [{metadata: [1]}]", "document 1, line 1: flags[0]: metadata: must be an object, not a list"},
		{"infinity in an attachment", document.YAML, "flags: [{variants: [{attachment: [.inf]}]}]", "document 1, line 1: flags[0]: variants[0]: attachment: .inf is not a valid JSON number"},
		{"same member twice", document.YAML, "flags: []\nflags: []", `document 1, line 2: duplicate member "flags"`},
		{"member name", document.YAML, "{[a]: 1}", "document 1, line 1: the name of a member must be a string"},
		{"tag", document.YAML, "flags: !shop []", "document 1, line 1: tag !shop is not supported"},
		{"binary", document.YAML, "version: !!binary aGk=", "document 1, line 1: tag !!binary is not supported"},
		{"tag that does not match the value", document.YAML, "version: !!int x", `document 1, line 1: "x" is not a value of type !!int`},
		{"merge of a string", document.YAML, "{<<: a}", "document 1, line 1: only mappings can be merged"},
		{"anchor that contains itself", document.YAML, "flags: &a [*a]", `document 1, line 1: anchor "a" contains itself`},
		{"unknown anchor", document.YAML, "flags: *a", "document 1: unknown anchor 'a' referenced"},
		{"YAML syntax in the second document", document.YAML, "flags:\n---\na: [", "document 2, line 3: did not find expected node content"},
		{"YAML depth", document.YAML, "x: " + strings.Repeat("[", 70) + strings.Repeat("]", 70), "document 1, line 1: values are nested more than 64 levels deep"},
		{"JSON depth", document.JSON, `{"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}", "document 1: values are nested more than 64 levels deep"},
		{"JSON syntax", document.JSON, `{"flags":[}`, "document 1: byte 10: invalid character '}' looking for beginning of value"},
		{"JSON ends early", document.JSON, `{"flags":[`, "document 1: unexpected end of the input"},
		{"JSON form", document.JSON, `{} {"flags":[{"key":"f","rules":[{"rank":"1"}]}]}`, `document 2, line 1: flags[0] "f": rules[0]: rank: must be a 32-bit integer, not a string`},
		{"JSON with invalid UTF-8", document.JSON, "{\"a\":\"\xff\"}", "the documents are not valid UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := document.Decode([]byte(test.text), test.format, document.RejectUnknown)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if !errors.Is(err, guidon.InvalidArgument) {
				t.Errorf("got code %v, want InvalidArgument", guidon.CodeOf(err))
			}
		})
	}
}

// endless is a stream that never ends.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

func TestDecodeBounds(t *testing.T) {
	t.Run("size", func(t *testing.T) {
		_, err := document.Read(endless{"# nothing\n"})
		if !errors.Is(err, guidon.TooLarge) {
			t.Errorf("got %v, want TooLarge", err)
		}
	})
	t.Run("documents", func(t *testing.T) {
		if _, err := document.Decode([]byte(strings.Repeat("{}\n", 1000)), document.JSON, document.RejectUnknown); err != nil {
			t.Errorf("1000 documents: %v", err)
		}
		_, err := document.Decode([]byte(strings.Repeat("---\n", 1002)), document.YAML, document.RejectUnknown)
		if !errors.Is(err, guidon.TooLarge) {
			t.Errorf("got %v, want TooLarge", err)
		}
	})
	t.Run("aliases", func(t *testing.T) { // nine levels of nine aliases: about 400 million items
		bomb := "l0: &l0 [x, x, x, x, x, x, x, x, x]\n"
		for i := 1; i < 9; i++ {
			bomb += fmt.Sprintf("l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", "))
		}
		_, err := document.Decode([]byte(bomb), document.YAML, document.RejectUnknown)
		if err == nil || !strings.Contains(err.Error(), "aliases expand to too much content") {
			t.Errorf("got %v, want an error about aliases", err)
		}
	})
	t.Run("aliases of merges", func(t *testing.T) {
		bomb := "a: &a {" + strings.Repeat("x", 1000) + ": 1}\nb:\n" + strings.Repeat("- {<<: *a}\n", 10_000)
		_, err := document.Decode([]byte(bomb), document.YAML, document.IgnoreUnknown)
		if err != nil {
			t.Errorf("member names are shared, so the expansion is small: %v", err)
		}
	})
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]document.Format{"a.yml": document.YAML, "b/c.YAML": document.YAML, "x.y.json": document.JSON} {
		if got, err := document.FormatOf(path); err != nil || got != want {
			t.Errorf("FormatOf(%q) = %v, %v; want %v", path, got, err, want)
		}
	}
	for _, path := range []string{"", "a", "a.toml", "yaml"} {
		if _, err := document.FormatOf(path); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("FormatOf(%q): got %v, want InvalidArgument", path, err)
		}
	}
}

// conditional is a document whose rules have every condition, as it is exported.
const conditional = `version: guidon/1
namespace:
  key: shop
  name: Shop
flags:
  - key: checkout-redesign
    name: Checkout redesign
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants:
      - default: true
        key: classic
      - key: one-page
      - key: express
    rules:
      - segment: beta
        if:
          - all:
              - type: VERSION_COMPARISON_TYPE
                property: app
                operator: gte
                value: "2.4"
              - type: STRING_COMPARISON_TYPE
                property: country
                operator: eq
                value: SE
                not: true
          - any:
              - type: LIST_COMPARISON_TYPE
                property: roles
                operator: anyof
                value: '["admin","owner"]'
                description: staff
        except:
          - blocked
        distributions:
          - variant: one-page
            rollout: 100
      - everyone: true
        portion:
          percentage: 30
          start: 30
          seed: layer-checkout
        from: "2026-12-01T09:00:00Z"
        until: "2026-12-24T00:00:00Z"
        split:
          by: account
          seed: price-test
          hash: flipt-fine
        distributions:
          - variant: classic
            rollout: 33.333
          - variant: express
            rollout: 66.667
      - everyone: true
        code_default: true
  - key: new-search
    name: New search
    type: BOOLEAN_FLAG_TYPE
    enabled: false
    rollouts:
      - segment:
          key: beta
          value: true
        portion:
          percentage: 10
          hash: murmur3
        until: "2026-12-24T00:00:00Z"
      - segment:
          value: true
        if:
          - any:
              - type: ENTITY_ID_COMPARISON_TYPE
                property: entityId
                operator: prefix
                value: test-
      - threshold:
          percentage: 12.5
          value: true
          start: 50
          by: tenant
          hash: flipt-fine
        from: "2026-12-01T09:00:00Z"
segments:
  - key: beta
    name: Beta
    match_type: ALL_MATCH_TYPE
  - key: blocked
    name: Blocked
    match_type: ALL_MATCH_TYPE
`

func TestConditions(t *testing.T) {
	text := strings.Replace(conditional, "operator: prefix", "operator: contains", 1)
	d := decodeOne(t, document.YAML, text)
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, encode(t, document.YAML, d)); diff != "" {
		t.Errorf("(-file +encoded):\n%s", diff)
	}
	s := newService(t)
	if _, _, err := s.Import(t.Context(), service.Write{}, "shop", d, service.ImportCreate, false); err != nil {
		t.Fatal(err)
	}
	view, err := s.View(t.Context(), "shop", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, encode(t, document.YAML, view.Export(false).Document())); diff != "" {
		t.Errorf("(-file +exported):\n%s", diff)
	}
	again, _, err := s.Import(t.Context(), service.Write{}, "shop", d, service.ImportUpdate, false)
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("importing again: got %d changes, %v", len(again.Changes), err)
	}
}

// TestTimes: times of any zone, in quotes or not, are those of UTC. Anything else is an error.
func TestTimes(t *testing.T) {
	const text = "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags:\n  - {key: f, name: F, type: BOOLEAN_FLAG_TYPE, " +
		"rollouts: [{threshold: {percentage: 100, value: true}, from: FROM, until: null}]}\n"
	from := func(value string) *service.Document {
		return decodeOne(t, document.YAML, strings.Replace(text, "FROM", value, 1))
	}
	for value, want := range map[string]time.Time{
		"2026-12-01T09:00:00Z":        time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC),
		"'2026-12-01T10:00:00+01:00'": time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC),
		"null":                        {},
	} {
		d := from(value)
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if r := d.Flags[0].Rollouts[0]; !r.Stated().From.Equal(want) || !r.Stated().Until.IsZero() {
			t.Errorf("%s: got %v until %v, want %v", value, r.Stated().From, r.Stated().Until, want)
		}
	}
	for value, want := range map[string]string{
		"2026-12-01":           "must be a time in RFC 3339, such as 2026-12-01T09:00:00Z",
		"2026-12-01T09:00:00":  "must be a time in RFC 3339, such as 2026-12-01T09:00:00Z",
		"[1]":                  "must be a string, not a list",
		"2026-12-01T09:00:00Z": "version",
	} {
		text := strings.Replace(text, "FROM", value, 1)
		if want == "version" {
			text = strings.Replace(text, "guidon/1", `"1.4"`, 1)
		}
		_, err := document.Decode([]byte(text), document.YAML, document.RejectUnknown)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "from") {
			t.Errorf("%s: got %v, want %q", value, err, want)
		}
	}
}
