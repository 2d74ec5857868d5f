package issuer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/issuer"
)

func TestParse(t *testing.T) {
	got, err := issuer.ParseClaims([]byte(` {"s":"é","n":1.50,"b":true,"z":null,"o":{"a":[1,{"x":"y"}]},"":[]} `))
	want := issuer.Claims{
		"s": "é", "n": json.Number("1.50"), "b": true, "z": nil, "": []any{},
		"o": map[string]any{"a": []any{json.Number("1"), map[string]any{"x": "y"}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, object (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{
		`{"sub":"a","sub":"b"}`, `{}`, ` { "a" : [ {"b":1} , {"b":2} ] , "b" : null } `, `{"a":1,"A":2}`, `{"a":{"a":{"a":1}}}`, `{"a":[[],{},""],"b":"\u0000"}`, `{"a":1e999}`,
	} {
		if _, err := issuer.ParseClaims([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for text, want := range map[string]string{
		``:                    "malformed JSON",
		`{`:                   "malformed JSON",
		`{} {}`:               "malformed JSON",
		`{}{}`:                "malformed JSON",
		`{} x`:                "malformed JSON",
		`{"a":1,}`:            "malformed JSON",
		`{"a":01}`:            "malformed JSON",
		`{"a":NaN}`:           "malformed JSON",
		"{\"a\":\"\n\"}":      "malformed JSON",
		"\xef\xbb\xbf{}":      "malformed JSON",
		`null`:                "not a JSON object",
		`"sub"`:               "not a JSON object",
		`[]`:                  "not a JSON object",
		`[{"sub":"ada"}]`:     "not a JSON object",
		"{\"sub\":\"a\xff\"}": "not UTF-8",
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000):         "malformed JSON",
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): "malformed JSON",
	} {
		if o, err := issuer.ParseClaims([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v and error %v, want %q", text, o, err, want)
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]struct {
		text string
		ok   bool
	}{
		`{}`: {"", true}, `{"a":""}`: {"", true}, `{"a":"x"}`: {"x", true}, `{"A":"x"}`: {"", true},
		`{"a":null}`: {}, `{"a":1}`: {}, `{"a":["x"]}`: {}, `{"a":{}}`: {}, `{"a":false}`: {},
	} {
		got, err := parse(t, text).Text("a")
		if got != want.text || (err == nil) != want.ok {
			t.Errorf("%s: got %q and error %v, want %q, accepted: %v", text, got, err, want.text, want.ok)
		}
	}
	o := parse(t, `{"null":null,"o":{"name":"ada"}}`)
	inner, _ := o["o"].(map[string]any)
	if name, err := issuer.Claims(inner).Text("name"); name != "ada" || err != nil || !o.Has("null") || o.Has("Null") || o.Has("none") {
		t.Errorf("name %q and error %v; the names are not those of %v", name, err, o)
	}
	if text, err := issuer.Claims(nil).Text("a"); text != "" || err != nil || issuer.Claims(nil).Has("a") {
		t.Errorf("in no object: got %q and error %v", text, err)
	}
}

func TestAudience(t *testing.T) {
	for text, want := range map[string][]string{
		`{"aud":"x"}`: {"x"}, `{"aud":["x"]}`: {"x"}, `{"aud":["x","y","x"]}`: {"x", "y", "x"}, `{"aud":""}`: {""}, `{"aud":["a,b","c"]}`: {"a,b", "c"}, `{"AUD":"x"}`: nil,
		`{}`: nil, `{"aud":null}`: nil, `{"aud":[]}`: nil, `{"aud":["x",1]}`: nil, `{"aud":["x",null]}`: nil,
		`{"aud":[["x"]]}`: nil, `{"aud":{"x":"x"}}`: nil, `{"aud":1}`: nil,
	} {
		got, err := parse(t, text).Audience()
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: error %v, audience (-want +got):\n%s", text, err, diff)
		}
	}
}

func parse(t testing.TB, text string) issuer.Claims {
	t.Helper()
	o, err := issuer.ParseClaims([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}
