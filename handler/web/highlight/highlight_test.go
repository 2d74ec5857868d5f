package highlight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/highlight"
)

// TestTokens: the pieces of a text are coloured by what they are.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		name     string
		language highlight.Language
		text     string
		want     []highlight.Token
	}{
		{"keys and values of JSON", highlight.JSON, `{"a": "b\"", "n": [1.5, true]}`, []highlight.Token{
			{"", "{"}, {"k", `"a"`}, {"", ": "}, {"s", `"b\""`}, {"", ", "}, {"k", `"n"`}, {"", ": ["}, {"n", "1.5"}, {"", ", "}, {"f", "true"}, {"", "]}"},
		}},
		{"a call and a comment", highlight.Go, "x := os.Getenv(`A`) // why\nreturn", []highlight.Token{
			{"", "x := os."}, {"f", "Getenv"}, {"", "("}, {"s", "`A`"}, {"", ") "}, {"c", "// why"}, {"", "\n"}, {"k", "return"},
		}},
		{"a string without an end", highlight.Shell, `curl "x`, []highlight.Token{{"k", "curl"}, {"", " "}, {"s", `"x`}}},
		{"a string that ends in a backslash", highlight.JSON, `"\`, []highlight.Token{{"s", `"\`}}},
		{"nothing", highlight.Go, "", nil},
	} {
		if diff := cmp.Diff(test.want, test.language.Tokens(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// FuzzTokens: the pieces together are the text.
func FuzzTokens(f *testing.F) {
	f.Add(`{"a": 1}`)
	f.Add("`\\`'\"#// \xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, language := range []highlight.Language{highlight.JSON, highlight.Go, highlight.Script, highlight.Java, highlight.Python, highlight.Shell} {
			got := ""
			for _, token := range language.Tokens(text) {
				got += token.Text
			}
			if got != text {
				t.Errorf("got %q, want %q", got, text)
			}
		}
	})
}
