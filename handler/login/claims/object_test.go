package claims_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/claims"
)

func TestParse(t *testing.T) {
	got, err := claims.Parse([]byte(` {"s":"é","n":1.50,"b":true,"z":null,"o":{"a":[1,{"x":"y"}]},"":[]} `))
	want := claims.Object{
		"s": "é", "n": json.Number("1.50"), "b": true, "z": nil, "": []any{},
		"o": claims.Object{"a": []any{json.Number("1"), claims.Object{"x": "y"}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, object (-want +got):\n%s", err, diff)
	}
}

func TestParseRejects(t *testing.T) {
	nested := func(levels int) string {
		return `{"x":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	if _, err := claims.Parse([]byte(nested(31))); err != nil {
		t.Errorf("31 arrays in an object: %v", err)
	}
	for text, want := range map[string]string{
		``:                        "malformed JSON",
		`{`:                       "malformed JSON",
		`{} {}`:                   "malformed JSON",
		`{"a":01}`:                "malformed JSON",
		`{"a":NaN}`:               "malformed JSON",
		"{\"a\":\"\n\"}":          "malformed JSON",
		"\xef\xbb\xbf{}":          "malformed JSON",
		`null`:                    "not a JSON object",
		`"sub"`:                   "not a JSON object",
		`[{"sub":"ada"}]`:         "not a JSON object",
		`{"sub":"a","sub":"a"}`:   "sub is there twice",
		`{"sub":1,"\u0073ub":2}`:  "sub is there twice",
		`{"o":{"a":1,"a":2}}`:     "a is there twice",
		`{"o":[[{"a":1,"a":2}]]}`: "a is there twice",
		`{"\ud800":1,"\ud801":1}`: "is there twice",
		"{\"sub\":\"a\xff\"}":     "not UTF-8",
		nested(32):                "nested more than 32 levels deep",
		nested(9000):              "nested more than 32 levels deep",
		nested(100_000):           "malformed JSON",
	} {
		if o, err := claims.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
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
}

func TestAudience(t *testing.T) {
	for text, want := range map[string][]string{
		`{"aud":"x"}`: {"x"}, `{"aud":["x"]}`: {"x"}, `{"aud":["x","y","x"]}`: {"x", "y", "x"}, `{"aud":""}`: {""},
		`{}`: nil, `{"aud":null}`: nil, `{"aud":[]}`: nil, `{"aud":["x",1]}`: nil, `{"aud":["x",null]}`: nil,
		`{"aud":[["x"]]}`: nil, `{"aud":{"x":"x"}}`: nil, `{"aud":1}`: nil,
	} {
		got, err := parse(t, text).Audience()
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: error %v, audience (-want +got):\n%s", text, err, diff)
		}
	}
}

func parse(t testing.TB, text string) claims.Object {
	t.Helper()
	o, err := claims.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}
