package claimset_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/claimset"
)

func parse(t testing.TB, payload string) claimset.Set {
	t.Helper()
	s, err := claimset.Parse([]byte(payload))
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return s
}

func TestParse(t *testing.T) {
	for payload, ok := range map[string]bool{
		`{}`: true,
		` { "a" : [ {"b":1} , {"b":2} ] , "b" : null } `: true,
		`{"a":1,"A":2}`:                 true,
		`{"a":{"a":{"a":1}}}`:           true,
		`{"a":[[],{},""],"b":"\u0000"}`: true,

		``:                               false,
		`null`:                           false,
		`[]`:                             false,
		`"a"`:                            false,
		`{`:                              false,
		`{}{}`:                           false,
		`{} x`:                           false,
		`{"a":1,}`:                       false,
		`{"sub":"ada","sub":"eve"}`:      false,
		`{"sub":"ada","s\u0075b":"eve"}`: false,
		`{"a":{"b":1,"b":2}}`:            false,
		`{"a":[[{"b":1,"b":2}]]}`:        false,
		"{\"a\":\"\xff\"}":               false,
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): false,
	} {
		if _, err := claimset.Parse([]byte(payload)); (err == nil) != ok {
			t.Errorf("%.60s: got error %v, want success: %v", payload, err, ok)
		}
	}
}

func TestString(t *testing.T) {
	s := parse(t, `{"a":"x","empty":"","number":1,"null":null,"list":["x"]}`)
	for name, want := range map[string]string{"a": "x", "empty": "", "none": "", "A": ""} {
		if got, err := s.String(name); got != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"number", "null", "list"} {
		if got, err := s.String(name); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
	if !s.Has("null") || s.Has("A") {
		t.Error("Has does not know the names")
	}
}

func TestObject(t *testing.T) {
	s := parse(t, `{"user":{"name":"ada"},"text":"{}","null":null}`)
	got, ok := s.Object("user")
	if name, err := got.String("name"); !ok || name != "ada" || err != nil {
		t.Errorf("got %v and %v", got, ok)
	}
	for _, name := range []string{"text", "null", "none"} {
		if got, ok := s.Object(name); ok {
			t.Errorf("%s: got %v, want none", name, got)
		}
	}
}

func TestAudiences(t *testing.T) {
	for payload, want := range map[string][]string{
		`{}`:                  nil,
		`{"aud":"a"}`:         {"a"},
		`{"aud":""}`:          {""},
		`{"aud":["a","b"]}`:   {"a", "b"},
		`{"aud":[]}`:          {},
		`{"AUD":"a"}`:         nil,
		`{"aud":["a,b","c"]}`: {"a,b", "c"},
	} {
		got, err := parse(t, payload).Audiences()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", payload, err, diff)
		}
	}
	for _, payload := range []string{`{"aud":null}`, `{"aud":1}`, `{"aud":{"a":1}}`, `{"aud":["a",1]}`, `{"aud":[["a"]]}`, `{"aud":["a",null]}`} {
		if got, err := parse(t, payload).Audiences(); err == nil {
			t.Errorf("%s: got %v, want an error", payload, got)
		}
	}
}

func TestTime(t *testing.T) {
	for text, want := range map[string]time.Time{
		`{"x":1}`:              {},
		`{"exp":0}`:            time.Unix(0, 0),
		`{"exp":1800000000}`:   time.Unix(1800000000, 0),
		`{"exp":1800000000.9}`: time.Unix(1800000000, 0),
		`{"exp":1.8e9}`:        time.Unix(1800000000, 0),
		`{"exp":253402300799}`: time.Unix(253402300799, 0),
	} {
		if got, err := parse(t, text).Time("exp"); !got.Equal(want) || err != nil {
			t.Errorf("%s: got %v and %v, want %v", text, got, err, want)
		}
	}
	for _, value := range []string{`"1800000000"`, `null`, `true`, `[1]`, `{}`, `-1`, `-0.1`, `253402300800`, `9223372036854775807`, `1e300`, `1e999`} {
		if got, err := parse(t, `{"exp":`+value+`}`).Time("exp"); err == nil {
			t.Errorf("%s: got %v, want an error", value, got)
		}
	}
}

func TestTexts(t *testing.T) {
	s := parse(t, `{
		"groups": ["a", 1, null, ["b"], "c", ""], "one": "x y", "number": 1, "empty": [],
		"https://acme.example/groups": ["url"],
		"realm": {"roles": ["r"], "a/b": {"m~n": "deep"}, "": "unnamed"},
		"list": [{"name": "first"}, {"name": "second"}]
	}`)
	for path, want := range map[string][]string{
		"":                            nil,
		"groups":                      {"a", "c", ""},
		"one":                         {"x y"},
		"number":                      nil,
		"empty":                       nil,
		"none":                        nil,
		"https://acme.example/groups": {"url"},
		"/groups":                     {"a", "c", ""},
		"/groups/0":                   {"a"},
		"/groups/00":                  nil,
		"/groups/-1":                  nil,
		"/groups/9":                   nil,
		"/groups/99999999999999999":   nil,
		"/realm/roles":                {"r"},
		"/realm/none/deeper":          nil,
		"/realm/a~1b/m~0n":            {"deep"},
		"/realm/":                     {"unnamed"},
		"/one/x":                      nil,
		"/list/1/name":                {"second"},
		"realm/roles":                 nil,
	} {
		p, err := claimset.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Texts(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"/a~", "/a~2", "/~~0", "/a/~b"} {
		if _, err := claimset.ParsePath(path); err == nil {
			t.Errorf("%s: want an error", path)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "äöü": true, "a b": true, "日本": true, "a:*": true,
		"": false, "äöüß": false, "a\n": false, "\x00": false, "\u0085": false, "\x7f": false, "\ufffd": false, "\xff": false,
	} {
		if got := claimset.Plain(text, 3); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// FuzzParse: what is parsed has unique names, and reading it does not panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"aud":["a"],"exp":1,"groups":["x"],"user":{"a":{}}}`), "/user/a")
	f.Add([]byte(`{"a":[{"b":1,"b":2}]}`), "/a/0/b")
	f.Fuzz(func(t *testing.T, payload []byte, path string) {
		s, err := claimset.Parse(payload)
		if err != nil {
			return
		}
		_, _ = s.Audiences()
		for name := range s {
			_, _ = s.String(name)
			_, _ = s.Object(name)
			if at, err := s.Time(name); err == nil && (at.Year() > 9999 || !at.IsZero() && at.Unix() < 0) {
				t.Errorf("%s: time %v", payload, at)
			}
		}
		if p, err := claimset.ParsePath(path); err == nil {
			s.Texts(p)
		}
	})
}
