package exchange_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/exchange"
)

// TestParseOrigin: origins get the form that browsers send; whatever no browser sends is
// refused.
func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://flags.example":         "https://flags.example",
		"HTTPS://Flags.EXAMPLE":         "https://flags.example",
		"http://flags.example":          "http://flags.example",
		"https://flags.example:443":     "https://flags.example",
		"https://flags.example:0443":    "https://flags.example",
		"https://flags.example:":        "https://flags.example",
		"http://flags.example:80":       "http://flags.example",
		"http://flags.example:443":      "http://flags.example:443",
		"https://flags.example:80":      "https://flags.example:80",
		"https://flags.example:8443":    "https://flags.example:8443",
		"http://localhost:3000":         "http://localhost:3000",
		"http://127.0.0.1:3000":         "http://127.0.0.1:3000",
		"http://[::1]":                  "http://[::1]",
		"http://[::1]:3000":             "http://[::1]:3000",
		"http://[2001:DB8:0:0::1]:80":   "http://[2001:db8::1]",
		"https://xn--flgs-6qa.example":  "https://xn--flgs-6qa.example",
		"https://flags.example.":        "https://flags.example.",
		"":                              "",
		"*":                             "",
		"null":                          "",
		"flags.example":                 "",
		"//flags.example":               "",
		"https:flags.example":           "",
		"https://":                      "",
		"https://:443":                  "",
		"ftp://flags.example":           "",
		"app://flags.example":           "",
		"https://*.example":             "",
		"https://*":                     "",
		"https://flags.example/":        "",
		"https://flags.example/base":    "",
		"https://flags.example?":        "",
		"https://flags.example?a=b":     "",
		"https://flags.example#":        "",
		"https://user@flags.example":    "",
		"https://flags.example:0":       "",
		"https://flags.example:65536":   "",
		"https://flags.example:x":       "",
		"https://flags.example:1:2":     "",
		"https://flägs.example":         "",
		"https://fl%61gs.example":       "",
		"https://flags..example":        "",
		" https://flags.example":        "",
		"https://flags.example ":        "",
		"https://flags.example\n":       "",
		"https://a.example,b.example":   "",
		"https://a.example https://b.e": "",
		"http://[::1":                   "",
		"http://::1":                    "",
		"http://[fe80::1%25eth0]":       "",
		"http://[::ffff:127.0.0.1]":     "",
		"http://[127.0.0.1]":            "",
	} {
		got, err := exchange.ParseOrigin(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q and error %v, want %q", text, got, err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "must be an origin such as https://flags.example, without path") {
			t.Errorf("%q: the error %q does not name the rule", text, err)
		}
	}
}

// FuzzParseOrigin: what is accepted is an origin, in a form of its own, that the protection
// trusts.
func FuzzParseOrigin(f *testing.F) {
	for _, text := range []string{"https://flags.example", "HTTP://[::1]:080", "https://a:0", "null", "*", "https://a/b", "https://[::]:65535", "http://1.2.3.4:80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, err := exchange.ParseOrigin(text)
		if err != nil {
			return
		}
		if again, err := exchange.ParseOrigin(origin); err != nil || again != origin {
			t.Errorf("%q: %q becomes %q, error %v", text, origin, again, err)
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme+"://"+u.Host != origin || u.User != nil {
			t.Fatalf("%q: %q is parsed as %v, error %v", text, origin, u, err)
		}
		var protection http.CrossOriginProtection
		if err := protection.AddTrustedOrigin(origin); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		r := httptest.NewRequest(http.MethodPost, "http://elsewhere.example", nil)
		r.Header.Set("Origin", origin)
		if err := protection.Check(r); err != nil {
			t.Errorf("%q: %q is not trusted: %v", text, origin, err)
		}
	})
}
