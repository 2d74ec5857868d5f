package limit_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/limit"
)

// proxies are a network of each kind, and a proxy on this machine.
var proxies = limit.Proxies{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"), netip.MustParsePrefix("127.0.0.1/32"),
}

// TestCaller tests whom a request is attributed to.
func TestCaller(t *testing.T) {
	for _, test := range []struct {
		name, connection string
		forwarded        []string
		want             string // "" if it is not known
		local            bool
	}{
		{"no proxy", "192.0.2.1:4711", nil, "192.0.2.1", false},
		{"a header of somebody else is ignored", "192.0.2.1:4711", []string{"198.51.100.1"}, "192.0.2.1", false},
		{"a proxy", "10.1.2.3:4711", []string{"192.0.2.1"}, "192.0.2.1", false},
		{"a proxy without the header", "10.1.2.3:4711", nil, "10.1.2.3", false},
		{"a proxy with an empty header", "10.1.2.3:4711", []string{""}, "10.1.2.3", false},
		{"two proxies", "10.1.2.3:4711", []string{"192.0.2.1, 10.9.9.9"}, "192.0.2.1", false},
		{"two proxies, not all trusted", "10.1.2.3:4711", []string{"192.0.2.1, 198.51.100.9"}, "198.51.100.9", false},
		{"an entry made up by the caller", "10.1.2.3:4711", []string{"198.51.100.1, 192.0.2.1"}, "192.0.2.1", false},
		{"a proxy made up by the caller", "10.1.2.3:4711", []string{"198.51.100.1, 10.0.0.1, 192.0.2.1"}, "192.0.2.1", false},
		{"a made-up header of its own", "10.1.2.3:4711", []string{"198.51.100.1", "192.0.2.1"}, "192.0.2.1", false},
		{"several headers", "10.1.2.3:4711", []string{"198.51.100.1, 192.0.2.1", "10.9.9.9", "10.8.8.8, 10.7.7.7"}, "192.0.2.1", false},
		{"all trusted", "10.1.2.3:4711", []string{"10.0.0.3, 10.0.0.2", "10.0.0.1"}, "10.0.0.3", false},
		{"white space", "10.1.2.3:4711", []string{" \t192.0.2.1 \t,\t10.9.9.9  "}, "192.0.2.1", false},
		{"with a port", "10.1.2.3:4711", []string{"192.0.2.1:80"}, "192.0.2.1", false},
		{"IPv6", "[2001:db8:1::7]:4711", []string{"2001:db8:2::1"}, "2001:db8:2::1", false},
		{"IPv6 in brackets", "10.1.2.3:4711", []string{"[2001:db8:2::1]"}, "2001:db8:2::1", false},
		{"IPv6 with a port", "10.1.2.3:4711", []string{"[2001:db8:2::1]:80"}, "2001:db8:2::1", false},
		{"IPv6 with a zone", "10.1.2.3:4711", []string{"fe80::1%eth0"}, "fe80::1", false},
		{"IPv6 with a zone and a port", "10.1.2.3:4711", []string{"[fe80::1%eth0]:80"}, "fe80::1", false},
		{"a connection with a zone", "[2001:db8:1::7%eth0]:4711", []string{"192.0.2.1"}, "192.0.2.1", false},
		{"mapped", "[::ffff:10.1.2.3]:4711", []string{"::ffff:192.0.2.1"}, "192.0.2.1", false},
		{"mapped, with a zone", "10.1.2.3:4711", []string{"::ffff:192.0.2.1%eth0"}, "192.0.2.1", false},
		{"mapped, in hexadecimal", "10.1.2.3:4711", []string{"192.0.2.9, ::ffff:0a00:0001"}, "192.0.2.9", false},
		{"garbage", "10.1.2.3:4711", []string{"unknown"}, "10.1.2.3", false},
		{"garbage hides what is before it", "10.1.2.3:4711", []string{"192.0.2.1, unix:, 10.9.9.9"}, "10.9.9.9", false},
		{"an empty entry hides what is before it", "10.1.2.3:4711", []string{"192.0.2.1, , 10.9.9.9"}, "10.9.9.9", false},
		{"an empty header hides what is before it", "10.1.2.3:4711", []string{"192.0.2.1", "", "10.9.9.9"}, "10.9.9.9", false},
		{"a trailing comma", "10.1.2.3:4711", []string{"192.0.2.1,"}, "10.1.2.3", false},
		{"IPv4 in brackets", "10.1.2.3:4711", []string{"[192.0.2.1]"}, "10.1.2.3", false},
		{"an open bracket", "10.1.2.3:4711", []string{"[2001:db8:2::1"}, "10.1.2.3", false},
		{"a closed bracket", "10.1.2.3:4711", []string{"2001:db8:2::1]"}, "10.1.2.3", false},
		{"a quoted address", "10.1.2.3:4711", []string{`"192.0.2.1"`}, "10.1.2.3", false},
		{"more proxies than there are", "10.1.2.3:4711", []string{"192.0.2.1, 10.0.0.1" + strings.Repeat(", 10.0.0.2", 32)}, "10.0.0.2", false},

		{"on this machine", "127.0.0.1:4711", nil, "127.0.0.1", true},
		{"on this machine, IPv6", "[::1]:4711", nil, "::1", true},
		{"on this machine, mapped", "[::ffff:127.0.0.1]:4711", nil, "127.0.0.1", true},
		{"on this machine, behind a proxy there", "127.0.0.1:4711", []string{"127.0.0.1"}, "127.0.0.1", true},
		{"elsewhere, behind a proxy on this machine", "127.0.0.1:4711", []string{"192.0.2.1"}, "192.0.2.1", false},
		{"behind a proxy on this machine that is not trusted", "127.0.0.2:4711", []string{"192.0.2.1"}, "127.0.0.2", true},
		{"on the machine of a proxy", "10.1.2.3:4711", []string{"127.0.0.1"}, "127.0.0.1", false},

		{"not known", "", []string{"127.0.0.1"}, "", false},
		{"a Unix socket", "@", []string{"192.0.2.1"}, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := limit.Caller{Local: test.local}
			if test.want != "" {
				want.Address = netip.MustParseAddr(test.want)
			}
			if diff := cmp.Diff(want, proxies.Caller(test.connection, test.forwarded), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzCaller: whatever a caller sends, it is the caller if its proxy appends its address,
// in one header or in two.
func FuzzCaller(f *testing.F) {
	for _, forwarded := range []string{"", ",", "10.0.0.1", "127.0.0.1,", "192.0.2.9, 10.0.0.1", "[::1]:80, fe80::1%a,b", "unknown", "\x00", "10.0.0.1:"} {
		f.Add(forwarded)
	}
	want := limit.Caller{Address: netip.MustParseAddr("192.0.2.1")}
	f.Fuzz(func(t *testing.T, forwarded string) {
		for _, values := range [][]string{
			{forwarded + ",192.0.2.1"}, {forwarded, "192.0.2.1"}, {forwarded, "192.0.2.1, 10.0.0.1"}, {forwarded, "192.0.2.1", "10.0.0.1", "10.0.0.2"},
		} {
			if got := proxies.Caller("10.1.2.3:4711", values); got != want {
				t.Errorf("%q: got %v, want %v", values, got, want)
			}
		}
		if got := (limit.Proxies{}).Caller("192.0.2.1:4711", []string{forwarded}); got != want {
			t.Errorf("without proxies: got %v, want %v", got, want)
		}
		// Of a connection that is trusted, the header decides. The result is always in
		// the form that is promised.
		got := proxies.Caller("10.1.2.3:4711", []string{forwarded})
		if a := got.Address; got.Local || !a.IsValid() || a.Is4In6() || a.Zone() != "" {
			t.Errorf("%q: got %v", forwarded, got)
		}
	})
}
