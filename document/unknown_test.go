package document_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/document"
)

// TestUnknownMembers: a member that no object of that kind has is rejected everywhere, except in
// metadata and attachments, and can be ignored.
func TestUnknownMembers(t *testing.T) {
	whole, err := document.Decode([]byte(everythingYAML), document.YAML, document.RejectUnknown)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := document.Encode(&text, document.JSON, whole[:1]); err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal([]byte(text.String()), &root); err != nil {
		t.Fatal(err)
	}
	decode := func(unknown document.Unknown) (any, error) {
		changed, err := json.MarshalIndent(root, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		return document.Decode(changed, document.JSON, unknown)
	}
	want, err := decode(document.RejectUnknown)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	eachObject("document", root, func(kind string, free bool, object map[string]any) {
		tried[kind] = true
		object["descripton"] = "x"
		defer delete(object, "descripton")
		_, err := decode(document.RejectUnknown)
		if free != (err == nil) || err != nil && !strings.Contains(err.Error(), `unknown member "descripton"`) {
			t.Errorf("in %s: got %v", kind, err)
		}
		if got, err := decode(document.IgnoreUnknown); err != nil || !free && !cmp.Equal(want, got) {
			t.Errorf("in %s, ignored: error %v, or not the same document", kind, err)
		}
	})
	for _, kind := range []string{
		"document", "namespace", "flags", "variants", "attachment", "metadata", "rules", "rules segment", "distributions",
		"rollouts", "rollouts segment", "threshold", "segments", "constraints",
	} {
		if !tried[kind] {
			t.Errorf("no %s was tried", kind)
		}
	}
}

// eachObject calls try for each object in the value, with a name for its kind and whether its
// members are free.
func eachObject(kind string, value any, try func(kind string, free bool, object map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			eachObject(kind, item, try)
		}
	case map[string]any:
		free := kind == "metadata" || kind == "attachment"
		for name, member := range value {
			switch {
			case free:
				continue
			case name == "segment":
				name = kind + " " + name
			}
			eachObject(name, member, try)
		}
		try(kind, free, value)
	}
}

// TestUnknownPlaces: the error of a misspelled name has its line, whatever the length of the
// text, and the name that was probably meant.
func TestUnknownPlaces(t *testing.T) {
	for _, test := range []struct {
		name, text string
		format     document.Format
		want       string
	}{
		{"percentage", "flags:\n- key: f\n  name: F\n  type: BOOLEAN_FLAG_TYPE\n  rollouts:\n  - threshold:\n      percent: 50\n      value: true\n", document.YAML,
			`document 1, line 7: flags[0] "f": rollouts[0]: threshold: unknown member "percent"; did you mean percentage?`},
		{"list", "flags:\n- key: f\n  name: F\n  rolouts: []\n", document.YAML, `document 1, line 4: flags[0] "f": unknown member "rolouts"; did you mean rollouts?`},
		{"JSON", "{\"flags\": [\n{\"key\": \"f\",\n\"enabld\": true}]}", document.JSON, `document 1, line 3: flags[0] "f": unknown member "enabld"; did you mean enabled?`},
		{"case", "flags:\n- key: f\n  Enabled: true\n", document.YAML, `document 1, line 3: flags[0] "f": unknown member "Enabled"; did you mean enabled?`},
		{"after the lists", "flags:\n- key: f\n  name: F\nnamespce: shop\n", document.YAML, `document 1, line 4: unknown member "namespce"; did you mean namespace?`},
		{"in a later document", "flags:\n- key: f\n  name: F\n---\n# b\nflags:\n- key: f\n  name: F\nnamespce: shop\n", document.YAML, `document 2, line 9: unknown member "namespce"; did you mean namespace?`},
		{"top level of JSON", "{\"flags\": [],\n\"segmets\": []}", document.JSON, `document 1, line 2: unknown member "segmets"; did you mean segments?`},
		{"value", "segments:\n- key: s\n  match_type: ANY\n", document.YAML, `document 1, line 3: segments[0] "s": match_type: unknown value "ANY"; did you mean ANY_MATCH_TYPE?`},
		{"operator", "flags:\n- key: f\n  rules:\n  - segment: {keys: [a, b], operator: AND}\n", document.YAML,
			`document 1, line 4: flags[0] "f": rules[0]: segment: operator: unknown value "AND"; did you mean AND_SEGMENT_OPERATOR?`},
		{"hash", "version: guidon/1\nflags:\n- key: f\n  rules:\n  - split: {hash: sha}\n", document.YAML,
			`document 1, line 5: flags[0] "f": rules[0]: split: hash: unknown value "sha"; it must be flipt, flipt-fine, murmur3 or unleash`},
		{"a long name", "flags:\n- " + strings.Repeat("x", 1000) + ": 1\n", document.YAML,
			`document 1, line 2: flags[0]: unknown member "` + strings.Repeat("x", 397) + `…"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			padding := strings.Repeat(fmt.Sprintf("%100s\n", ""), 12_000) // makes the text long
			for _, text := range []string{test.text, test.text + padding} {
				_, err := document.Decode([]byte(text), test.format, document.RejectUnknown)
				if err == nil || err.Error() != test.want {
					t.Errorf("%d bytes: got  %v\nwant %s", len(text), err, test.want)
				}
			}
		})
	}
}

// TestLongTextsInErrors: errors quote only the beginning of a long text.
func TestLongTextsInErrors(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	for name, text := range map[string]string{
		"flag":      "flags:\n- key: " + long + "\n- key: " + long + "\n  enabled: perhaps\n",
		"number":    "flags: [{rules: [{rank: 1" + strings.Repeat("0", 1<<20) + "}]}]\n",
		"name":      long + ": 1\n" + long + ": 2\n",
		"value":     "segments:\n- key: s\n  match_type: " + long + "\n",
		"version":   "version: " + long + "\n",
		"anchor":    "flags: *" + long + "\n",
		"rule":      "flags:\n- key: f\n  name: F\n  rules: [{segment: " + long + "}]\n",
		"namespace": "namespace: " + long + "\n",
	} {
		report := document.Lint([]byte(text), document.YAML, document.RejectUnknown)
		if report.Errors() == 0 {
			t.Errorf("%s: no errors", name)
		}
		for _, f := range report.Findings {
			if len(f.Path)+len(f.Message) > 4096 {
				t.Errorf("%s: a finding of %d bytes", name, len(f.Path)+len(f.Message))
			}
		}
		if _, err := document.Decode([]byte(text), document.YAML, document.RejectUnknown); err != nil && len(err.Error()) > 4096 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}
