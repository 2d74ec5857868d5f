package config

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTrustedNetworks: an address alone is a network of one.
func TestTrustedNetworks(t *testing.T) {
	c, err := Load(t.Context(), "", []string{"GUIDON_DB_URL=file:/data/guidon.db", "GUIDON_SERVER_TRUSTED_PROXIES=10.0.0.0/8 192.0.2.1 2001:db8::/32\t::1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"),
		netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::1/128"),
	}
	if diff := cmp.Diff(want, c.Server.TrustedNetworks(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
