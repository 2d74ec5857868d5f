package document_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

func jsonText(value string) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// FuzzDecode checks that no input makes Decode panic, and that valid documents can be
// encoded and decoded in both formats without a difference.
func FuzzDecode(f *testing.F) {
	for _, version := range []string{"1.0", "1.1", "1.2", "1.3"} {
		text, err := os.ReadFile("../examples/versions/" + version + ".yml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, false)
	}
	var sparse bytes.Buffer
	if err := document.Encode(&sparse, document.JSON, everything()); err != nil {
		f.Fatal(err)
	}
	f.Add(sparse.Bytes(), true)
	f.Add([]byte(everythingYAML), false)
	f.Add([]byte("version: v1.0.0\nflags:\n- {key: f, name: n, rules: [{segment: s}, {segment: s, rank: 1}]}\nsegments: [{key: s, name: s}]\n"), false)
	f.Add([]byte("flags:\n- &f {key: f, name: n, metadata: {a: &a [1], b: *a}}\n- {<<: *f, key: g}\n"), false)
	f.Add([]byte("flags: [{key: f, name: n, description: \"a\\n b\\r\", variants: [{key: ' v', attachment: [1e999, 0x1F, .5]}]}]"), false)
	f.Add([]byte(`{"flags":[{"key":"f","name":"n","variants":[{"key":"v","attachment":{"a":"\ud800","a":1.0}}]}]}`), true)
	f.Fuzz(func(t *testing.T, input []byte, isJSON bool) {
		if len(input) > 64<<10 {
			t.Skip("small inputs find more")
		}
		format := document.YAML
		if isJSON {
			format = document.JSON
		}
		documents, err := document.Decode(input, format, document.RejectUnknown)
		if err != nil {
			return
		}
		var valid []*service.Document
		for _, d := range documents {
			if d.Validate() == nil {
				valid = append(valid, ranked(d))
			}
		}
		if len(valid) > 0 {
			assertRoundTrip(t, valid)
		}
	})
}

// FuzzEncode checks that every string, in every place, and every percentage is decoded to
// the same value.
func FuzzEncode(f *testing.F) {
	for _, value := range awkwardTexts {
		f.Add(value, float32(33.33))
	}
	f.Fuzz(func(t *testing.T, value string, share float32) {
		if !utf8.ValidString(value) || !(share >= 0 && share <= 100) {
			t.Skip("rejected by validation")
		}
		d := withText(t, value)
		d.Flags[0].Rollouts = []*guidon.Rollout{{Threshold: &guidon.RolloutThreshold{Percentage: share}}}
		assertRoundTrip(t, []*service.Document{d})
	})
}
