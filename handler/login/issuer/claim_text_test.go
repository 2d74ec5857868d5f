package issuer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/issuer"
)

func TestIsName(t *testing.T) {
	for text, want := range map[string]bool{
		"ada": true, " ": true, "auth0|5f7c": true, "日本語": true, strings.Repeat("é", 255): true, "a:b,c*": true, "äöü": true, "a b": true, "a:*": true,
		"": false, strings.Repeat("a", 256): false, "a\x00": false, "a\nb": false, "a\tb": false, "a\x7f": false, "a\u0085b": false,
		"\x00": false, "\u0085": false, "\x7f": false, "\ufffd": false, "\xff": false,
		"a\u202eb": false, "a\u2028b": false, "a\u200f": false, "a\ufffd": false, "a\xff": false,
	} {
		if got := issuer.IsName(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	// The decoder makes these equal.
	for _, text := range []string{`{"sub":"a\ud800"}`, `{"sub":"a\udfff"}`} {
		if sub, _ := parse(t, text).Text("sub"); issuer.IsName(sub) {
			t.Errorf("%s: %q is a name", text, sub)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string][]string{
		`["b","a","b"]`: {"b", "a"}, `"a"`: {"a"}, `["a",1,null,true,{"x":"y"},["z"],"","b"]`: {"a", "b"},
		`["a",1,null,["b"],"c",""]`: {"a", "c"}, `"x y"`: {"x y"},
		`[]`: nil, `null`: nil, `1`: nil, `{"a":"b"}`: nil, `""`: nil, `["\u0000"]`: nil,
	} {
		got := issuer.ClaimTexts(parse(t, `{"x":`+text+`}`)["x"], issuer.IsName)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestStringify(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u0000<é>"`: "a\x00<é>", `""`: "", `null`: "", `1.50`: "1.50", `1e999`: "1e999", `true`: "true", `false`: "false",
		` [ "a" , null, "<é&>" ] `: `["a",null,"<é&>"]`, `{"b":{"y":1},"a":[]}`: `{"a":[],"b":{"y":1}}`, `["\n"]`: `["\n"]`,
	} {
		if got := issuer.ClaimText(parse(t, `{"x":`+text+`}`)["x"]); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
