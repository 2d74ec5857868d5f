package call_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// TestSessionCookie checks the attributes of the cookie. Clearing repeats all of them.
func TestSessionCookie(t *testing.T) {
	const token, state = "service_client_token=", "service_client_state="
	for _, test := range []struct {
		name       string
		cookie     call.SessionCookie
		prefix     string // of the names
		attributes string // between Max-Age and SameSite
		domain     string
	}{
		{"nothing configured", call.SessionCookie{}, "", "; HttpOnly", ""},
		{"secure", call.SessionCookie{Secure: true}, "", "; HttpOnly; Secure", ""},
		{"a domain", call.SessionCookie{Domain: "flags.example"}, "", "; HttpOnly", "; Domain=flags.example"},
		{"a secure domain", call.SessionCookie{Domain: "flags.example", Secure: true}, "", "; HttpOnly; Secure", "; Domain=flags.example"},
		{"a prefix", call.SessionCookie{Secure: true, HostPrefix: true}, "__Host-", "; HttpOnly; Secure", ""},
		{"a prefix, and what browsers reject with it", call.SessionCookie{Domain: "flags.example", HostPrefix: true}, "__Host-", "; HttpOnly; Secure", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for lifetime, maxAge := range map[time.Duration]string{24 * time.Hour: "; Max-Age=86400", 0: ""} {
				test.cookie.Lifetime = lifetime
				want := test.prefix + token + "secret; Path=/" + test.domain + maxAge + test.attributes + "; SameSite=Lax"
				if got := test.cookie.Set("secret"); got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}
			var want []string
			domains := []string{test.domain}
			if test.domain != "" {
				domains = append(domains, "")
			}
			for _, domain := range domains {
				for _, name := range []string{state, token} {
					want = append(want, test.prefix+name+"; Path=/"+domain+"; Max-Age=0"+test.attributes+"; SameSite=Lax")
				}
			}
			if diff := cmp.Diff(want, test.cookie.Clear()); diff != "" {
				t.Errorf("clearing (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClear: a browser that has the cookie deletes it, also if it got it before a domain
// was configured.
func TestClear(t *testing.T) {
	host := &url.URL{Scheme: "https", Host: "eu.flags.example", Path: "/auth/v1/self"}
	for _, test := range []struct {
		name       string
		set, clear call.SessionCookie
	}{
		{"nothing configured", call.SessionCookie{}, call.SessionCookie{}},
		{"everything", call.SessionCookie{Lifetime: time.Hour, Domain: "flags.example", Secure: true}, call.SessionCookie{Domain: "flags.example", Secure: true}},
		{"a prefix", call.SessionCookie{HostPrefix: true}, call.SessionCookie{HostPrefix: true}},
		{"from before the domain", call.SessionCookie{}, call.SessionCookie{Domain: "flags.example"}},
	} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		apply := func(values ...string) int {
			response := http.Response{Header: http.Header{"Set-Cookie": values}}
			jar.SetCookies(host, response.Cookies())
			return len(jar.Cookies(host))
		}
		if got := apply(test.set.Set("secret")); got != 1 {
			t.Errorf("%s: %d cookies at first, want 1", test.name, got)
		}
		if got := apply(test.clear.Clear()...); got != 0 {
			t.Errorf("%s: %d cookies are left", test.name, got)
		}
	}
}

// TestReadSession: exactly one cookie of exactly the name is read.
func TestReadSession(t *testing.T) {
	const plain, prefixed = "service_client_token=", "__Host-service_client_token="
	for _, test := range []struct {
		name   string
		prefix bool
		lines  []string
		want   string // "several" for an error
	}{
		{"none", false, nil, ""},
		{"another", false, []string{"session=x"}, ""},
		{"one", false, []string{plain + "x"}, "x"},
		{"among others", false, []string{"a=1; " + plain + "x; b=2", "c=3"}, "x"},
		{"in a later line", false, []string{"a=1", "b=2; " + plain + "x"}, "x"},
		{"beside one that is malformed", false, []string{`theme={"dark":true}; ` + plain + "x; flag"}, "x"},
		{"malformed itself", false, []string{plain + `a"b`}, ""},
		{"empty", false, []string{plain}, ""},
		{"twice", false, []string{plain + "x; " + plain + "y"}, "several"},
		{"twice, in two lines", false, []string{plain + "x", plain + "y"}, "several"},
		{"twice the same", false, []string{plain + "x; " + plain + "x"}, "several"},
		{"beside an empty one", false, []string{plain + "; " + plain + "x"}, "x"},
		{"a longer name", false, []string{"my_" + plain + "x; service_client_token2=y"}, ""},
		{"another case", false, []string{"Service_Client_Token=x"}, ""},
		{"within another's value", false, []string{"a=" + plain + "x"}, ""},
		{"the prefix, which is not configured", false, []string{prefixed + "x"}, ""},
		{"beside the prefix, which is not configured", false, []string{prefixed + "y; " + plain + "x"}, "x"},
		{"with the prefix", true, []string{prefixed + "x"}, "x"},
		{"without the prefix", true, []string{plain + "x"}, ""},
		{"with the prefix, beside one without", true, []string{plain + "planted; " + prefixed + "x"}, "x"},
		{"with the prefix, twice", true, []string{prefixed + "x", prefixed + "y"}, "several"},
		{"the prefix in another case", true, []string{"__host-" + plain + "x"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cookie := call.SessionCookie{HostPrefix: test.prefix}
			got, err := cookie.Read(test.lines)
			if err != nil {
				if got = "several"; !errors.Is(err, guidon.Unauthenticated) {
					t.Errorf("got error %v, want Unauthenticated", err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got, want := cookie.In(test.lines), test.want != ""; got != want {
				t.Errorf("there: %t, want %t", got, want)
			}
		})
	}
}

// FuzzReadSession: whatever else a browser sends, the session that it was given is found,
// or refused because there is another one.
func FuzzReadSession(f *testing.F) {
	for _, other := range []string{"", "a=1", ";;", `x="`, "service_client_token=y", "__Host-service_client_token=y", "=", "a=\x00", "service_client_token"} {
		f.Add(other, true)
		f.Add(other, false)
	}
	f.Fuzz(func(t *testing.T, other string, prefix bool) {
		cookie := call.SessionCookie{HostPrefix: prefix}
		own, _, _ := strings.Cut(cookie.Set("gdn_0123456789"), ";")
		for _, lines := range [][]string{{other, own}, {own, other}, {other + ";" + own}, {own + ";" + other}} {
			token, err := cookie.Read(lines)
			if several := errors.Is(err, guidon.Unauthenticated); token != "gdn_0123456789" && !several || !cookie.In(lines) {
				t.Errorf("%q: got %q, %v", lines, token, err)
			}
		}
	})
}
