package issuer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

func TestLookup(t *testing.T) {
	o := parse(t, `{
		"groups": ["a", "b"], "https://acme.example/roles": "r", "a.b": 1, "": "empty", "a/b": "slash", "m~n": "tilde", "~1": "escape",
		"realm_access": {"roles": ["x"], "": "inner", "0": "zero"}, "list": [{"name": "n"}, null], "null": null
	}`)
	number := o["a.b"]
	for path, want := range map[issuer.ClaimPath]any{
		"groups": []any{"a", "b"}, "https://acme.example/roles": "r", "a.b": number, "a/b": "slash", "m~n": "tilde",
		"/groups": []any{"a", "b"}, "/groups/0": "a", "/groups/1": "b", "/": "empty", "/a~1b": "slash", "/m~0n": "tilde",
		"/~01": "escape", "/realm_access/roles": []any{"x"}, "/realm_access/roles/0": "x", "/realm_access/": "inner",
		"/realm_access/0": "zero", "/list/0/name": "n", "/https:~1~1acme.example~1roles": "r",
		"Groups": nil, "none": nil, "/list/x": nil, "/https:": nil, "/a.b/x": nil, "realm_access.roles": nil, "realm_access/roles": nil, "/groups/2": nil, "/groups/-": nil, "/groups/-1": nil,
		"/groups/01": nil, "/groups/+1": nil, "/groups/1e0": nil, "/groups/99999999999999999999": nil, "/groups/0/0": nil,
		"": nil, "/list/1/name": nil, "/null": nil, "/null/x": nil, "/unknown/x": nil, "//": nil, "/groups/": nil,
	} {
		if diff := cmp.Diff(want, o.Lookup(path)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
	if got := issuer.Claims(nil).Lookup("/a/b"); got != nil {
		t.Errorf("in no object: got %v, want nil", got)
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[issuer.ClaimPath]string{
		"groups": "groups", "/realm_access/roles": "realm_access", "/a~1b~0/x": "a/b~", "a~b": "a~b", "/": "",
	} {
		if err := path.Check(); err != nil || path.First() != want {
			t.Errorf("%q: got %q and error %v, want %q", path, path.First(), err, want)
		}
	}
	for _, path := range []issuer.ClaimPath{"/~", "/a~2", "/a/b~", "/~~0", issuer.ClaimPath(strings.Repeat("x", 256))} {
		if path.Check() == nil {
			t.Errorf("%q is accepted", path)
		}
	}
}

// FuzzObject: no text and no path makes the package panic, what it finds for a name is the
// member, and what it accepts keeps to the limits. An object is the same after it was
// encoded.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"aud":["a"],"exp":1,"groups":["x"],"user":{"a":{}}}`), "/user/a")
	f.Add([]byte(`{"a":[{"b":1,"b":2}]}`), "/a/0/b")
	f.Add([]byte(`{"a":{"b":["c"]},"a~b":1}`), "/a/b/0")
	f.Add([]byte(`{"a~b":1}`), "/a~0b")
	f.Add([]byte(`{"a":1,"a":2}`), "a")
	f.Add([]byte("{\"a\":\"\xff\"}"), "/~")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		o, err := issuer.ParseClaims(text)
		if err != nil {
			return
		}
		p := issuer.ClaimPath(path)
		value := o.Lookup(p)
		for _, name := range issuer.ClaimTexts(value, issuer.IsName) {
			if name == "" || len(name) > 4*issuer.MaxClaim || !service.IsClean(name) {
				t.Errorf("text %q", name)
			}
		}
		if path != "" && !strings.HasPrefix(path, "/") {
			if diff := cmp.Diff(o[path], value); diff != "" {
				t.Errorf("member %q (-want +got):\n%s", path, diff)
			}
		}
		for name := range o {
			_, _ = o.Text(name)
			if at, err := o.Time(name); err == nil && (at.Year() > 9999 || !at.IsZero() && at.Unix() < 0) {
				t.Errorf("%s: time %v", text, at)
			}
		}
		if again, err := issuer.ParseClaims([]byte(issuer.ClaimText(o))); err != nil || cmp.Diff(o, again) != "" {
			t.Errorf("%s: encoded as %s: %v", text, issuer.ClaimText(o), err)
		}
		_ = p.Check()
		_, _ = o.Audience()
		_ = o.CheckTimes(noon)
	})
}
