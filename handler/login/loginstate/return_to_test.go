package loginstate_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
)

func TestReturnTo(t *testing.T) {
	for _, test := range []struct {
		path string
		want string // in the error, "" if it is accepted
	}{
		{"/", ""},
		{"/flags", ""},
		{"/flags/", ""},
		{"/namespaces/default/flags/checkout?tab=rules&x=1", ""},
		{"/?", ""},
		{"/a//b", ""},
		{"/a:b", ""},
		{"/:80", ""},
		{"/@evil.example", ""},
		{"/a?next=https:", ""},
		{"/a%20b?c=%C3%A4", ""},
		{"/a.b/.hidden/..x/x..", ""},
		{"/a?b=../..", ""},
		{"/a?b=/auth/", ""},
		{"/authors", ""},
		{"/x/auth/", ""},
		{"/%2525", ""},
		{"/" + strings.Repeat("a", 511), ""},

		{"/" + strings.Repeat("a", 512), "not exceed 512 bytes"},
		{"flags", `begin with "/"`},
		{"", `begin with "/"`},
		{"?a", `begin with "/"`},
		{"https://evil.example/", `begin with "/"`},
		{"javascript:alert(1)", `begin with "/"`},
		{`\\evil.example`, `begin with "/"`},
		{" /flags", `begin with "/"`},
		{"\t//evil.example", `begin with "/"`},
		{"//evil.example", `only one "/"`},
		{"///evil.example", `only one "/"`},
		{"//", `only one "/"`},
		{`/\evil.example`, `only one "/"`},
		{`/\/evil.example`, `only one "/"`},
		{`/a\..\b`, "printable ASCII"},
		{`/a?b=\`, "printable ASCII"},
		{"/a b", "printable ASCII"},
		{"/a#b", "printable ASCII"},
		{"/a?b#c", "printable ASCII"},
		{"/\tevil.example", "printable ASCII"},
		{"/\t/evil.example", "printable ASCII"},
		{"/a\r\nSet-Cookie: a=b", "printable ASCII"},
		{"/a\x00", "printable ASCII"},
		{"/a\x7f", "printable ASCII"},
		{"/ä", "printable ASCII"},
		{"/\xff", "printable ASCII"},
		{"/\u202e", "printable ASCII"},
		{"/a%zz", "be a path"},
		{"/a%", "be a path"},
		{"/a?b=%zz", "malformed percent-encoding"},
		{"/a?b=%4", "malformed percent-encoding"},
		{"/%0d%0aSet-Cookie:a=b", "control characters"},
		{"/a?b=%0A", "control characters"},
		{"/%00", "control characters"},
		{"/%09/evil.example", "control characters"},
		{"/%7f", "control characters"},
		{"/%C2%85", "control characters"},
		{"/%2fevil.example", "encoded slashes"},
		{"/%2F%2fevil.example", "encoded slashes"},
		{"/%5cevil.example", "encoded slashes"},
		{"/a?b=%2F", "encoded slashes"},
		{"/a?b=%5C", "encoded slashes"},
		{"/.", `segment "."`},
		{"/..", `segment "."`},
		{"/a/../b", `segment "."`},
		{"/a/./b", `segment "."`},
		{"/..?a", `segment "."`},
		{"/%2e%2e/b", `segment "."`},
		{"/a/.%2E", `segment "."`},
		{"/a/%2e", `segment "."`},
		{"/../../evil.example", `segment "."`},
		{"/auth/v1/self", "below /auth/"},
		{"/auth/", "below /auth/"},
		{"/auth", "below /auth/"},
		{"/auth?a", "below /auth/"},
		{"/%61uth/v1/method/oidc/acme/authorize", "below /auth/"},
	} {
		err := loginstate.CheckReturnTo(test.path)
		if test.want == "" {
			if err != nil {
				t.Errorf("%q: %v", test.path, err)
			}
			continue
		}
		if guidon.CodeOf(err) != guidon.InvalidArgument || !strings.HasPrefix(guidon.PublicMessage(err), "invalid return_to: must ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want InvalidArgument that contains %q", test.path, err, test.want)
		}
		if strings.Contains(err.Error(), "evil") {
			t.Errorf("%q: error %q repeats it", test.path, err)
		}
	}
}

// FuzzReturnTo: an accepted path stays on the host, however a browser resolves it.
func FuzzReturnTo(f *testing.F) {
	for _, path := range []string{"/", "/a/b?c=d", "//evil", `/\evil`, "/%2e%2e/", "/auth/", "/a%0d%0ab", "/x:y@z", "/.//evil.example"} {
		f.Add(path)
	}
	base, err := url.Parse("https://flags.example/base")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if loginstate.CheckReturnTo(path) != nil {
			return
		}
		for _, location := range []string{path, "/base" + path} {
			u, err := base.Parse(location)
			if err != nil || u.Scheme != "https" || u.Host != "flags.example" || u.User != nil {
				t.Fatalf("%q leads to %v, error %v", location, u, err)
			}
			if strings.HasPrefix(u.Path, "//") || strings.ContainsAny(location, "\\\r\n\t \x00") || len(path) > 512 {
				t.Errorf("%q has the path %q", location, u.Path)
			}
			if strings.HasPrefix(u.Path, "/auth/") || strings.HasPrefix(location, "/base") && !strings.HasPrefix(u.Path, "/base/") {
				t.Errorf("%q leads to %q", location, u.Path)
			}
		}
	})
}
