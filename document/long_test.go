package document_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

// long returns a document that is larger than 1 MiB in either format.
func long() *service.Document {
	d := &service.Document{Namespace: service.DocumentNamespace{Key: "long", Name: "Long"}}
	for i := range 4000 {
		d.Flags = append(d.Flags, &guidon.Flag{
			Key: fmt.Sprintf("flag-%d", i), Name: "- name: x", Description: strings.Repeat("line\n- flags:\n", i%7) + "  end",
			Variants: []*guidon.Variant{{Key: "v", Attachment: fmt.Sprintf(`{"list":[%d,[]],"text":"a\n---\nflags:\n"}`, i)}},
			Rules:    []*guidon.Rule{{SegmentKeys: []string{"s"}, Distributions: []*guidon.Distribution{{VariantID: "v", Rollout: 100}}}},
			Metadata: []byte(`{"owner":"team: #1"}`),
		})
	}
	d.Segments = []*guidon.Segment{{Key: "s", Name: "S", MatchType: guidon.MatchAny}}
	return d
}

// TestLongDocuments checks that long documents, which are read flag by flag, are decoded
// from either format without a difference.
func TestLongDocuments(t *testing.T) {
	want := []*service.Document{long(), long()}
	want[1].Namespace.Key = "second"
	for _, format := range []document.Format{document.YAML, document.JSON} {
		var text bytes.Buffer
		if err := document.Encode(&text, format, want); err != nil {
			t.Fatal(err)
		}
		if text.Len() < 2<<20 {
			t.Fatalf("%s: %d bytes are not long", format, text.Len())
		}
		got, err := document.Decode(text.Bytes(), format, document.RejectUnknown)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if !reflect.DeepEqual(want, got) {
			diff := cmp.Diff(want, got)
			t.Errorf("%s (-want +got):\n%s", format, diff[:min(len(diff), 2000)])
		}
	}
}

// TestLongForms checks that long streams are decoded like short ones of the same form,
// whether they can be split or not.
func TestLongForms(t *testing.T) {
	padding := strings.Repeat("# "+strings.Repeat("x", 100)+"\n", 12000) // makes the input long
	for name, text := range map[string]string{
		"indented":             "namespace: a\nflags:\n  - key: f\n    name: F\n\n  - key: g\n    name: G\nsegments:\n  - key: s\n    name: S\n",
		"flush":                "flags:\n- key: f\n  name: F\n- name: G\n  key: g\nversion: \"1.4\"\n",
		"two documents":        "---\nflags:\n- key: f\n  name: F\n---\nnamespace: b\nsegments:\n- key: s\n  name: S\n",
		"an empty document":    "flags:\n- key: f\n  name: F\n---\n---\nnamespace: b\n",
		"anchors":              "flags:\n- &f\n  key: f\n  name: F\n- <<: *f\n  key: g\n",
		"flow":                 "{flags: [{key: f, name: F}]}\n",
		"flow list":            "flags: [{key: f,\nname: F}]\n",
		"text across lines":    "flags:\n- key: f\n  name: \"F\n- key: g\"\n",
		"text like a name":     "flags:\n- key: f\n  name: \"F\nsegments:\"\n",
		"names twice":          "flags:\n- key: f\n  name: F\nflags:\n- key: g\n  name: G\n",
		"an old version":       "flags:\n- key: f\n  name: F\n  type: BOOLEAN_FLAG_TYPE\nversion: \"1.0\"\n",
		"a wrong type":         "flags:\n- key: f\n  name: F\n  enabled: maybe\n",
		"an item that is text": "flags:\n- key: f\n  name: F\n- text\n",
		"an empty list":        "flags:\nsegments:\n- key: s\n  name: S\n",
		"an unclosed text":     "flags:\n- key: \"f\n",
		"not a list":           "flags:\n  key: f\n",
		"a list":               "- key: f\n",
		"lines with CR":        "flags:\r\n- key: f\r\n  name: F\r\n- key: g\r\n",
		"CR before a document": "flags: \r---\nnamespace: b\nsegments:\n- key: s\n  name: S\n",
		"NEL before one":       "flags: \u0085---\nnamespace: b\nsegments:\n- key: s\n  name: S\n",
		"end of a document":    "flags:\n- key: f\n...\n",
	} {
		want, wantErr := document.Decode([]byte(text), document.YAML, document.RejectUnknown)
		got, err := document.Decode([]byte(text+padding), document.YAML, document.RejectUnknown)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got error %v, want %v", name, err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	spaces := strings.Repeat(" ", 1<<20)
	for _, text := range []string{
		`{"flags":[{"key":"f"},null],"segments":null,"version":"1.4"}null{"namespace":"b"}`, `{"flags":[{"key":"f","type":"BOOLEAN_FLAG_TYPE"}],"version":"1.0"}`,
		`{"flags":7}`, `{"flags":[{"key":"f"}],"flags":[{"key":"g"}]}`, `[1]`, `{"flags":[{"key":"f"}`, `{"flags":[{"key":{}}]}`, `{"flags":[}]}`, `{"version":"7"}`, `{} x`,
	} {
		want, wantErr := document.Decode([]byte(text), document.JSON, document.RejectUnknown)
		got, err := document.Decode([]byte(text+spaces), document.JSON, document.RejectUnknown)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got error %v, want %v", text, err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
