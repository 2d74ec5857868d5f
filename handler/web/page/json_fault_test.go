package page_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/web/page"
)

func TestJSONFault(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing is wrong", ` {"a": [1, "}"]} `, ""},
		{"a list without its end", `[1, 2`, "Line 1, column 6: This list never ends: add ]."},
		{"a list after a comma", `[1,`, "Line 1, column 4: This list never ends: add ]."},
		{"a list in an object", "{\n  \"a\": [1", "Line 2, column 10: This list never ends: add ]}."},
		{"an object", `{"a": 1`, "Line 1, column 8: This object never ends: add }."},
		{"a text", `{"a": "\"`, `Line 1, column 10: This text never ends: add "}.`},
		{"brackets of another kind", "{\n  \"a\": [1, 2\n}", "Line 3, column 1: This is not JSON: “}” cannot stand here."},
		{"a word", `{"ä": x}`, "Line 1, column 7: This is not JSON: “x” cannot stand here."},
		{"something after the end", `{} {}`, "Line 1, column 4: This is not JSON: “{” cannot stand here."},
		{"a member without its value", `{"a":`, "Line 1, column 6: This is not JSON: the end cannot stand here."},
		{"nothing", ``, "Line 1, column 1: This is not JSON: the end cannot stand here."},
		{"too much to add", strings.Repeat("[", 21), "Line 1, column 22: This is not JSON: the end cannot stand here."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := page.JSONFault(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzJSONFault: exactly what is not JSON has a fault.
func FuzzJSONFault(f *testing.F) {
	for _, text := range []string{``, `{"a": [1, "\"`, `[`, "{\n}", `"ä`, `{]`, "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := page.JSONFault(text); (got == "") != json.Valid([]byte(text)) {
			t.Errorf("%q: got %q", text, got)
		}
	})
}
