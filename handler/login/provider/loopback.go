package provider

import (
	"net/netip"
	"net/url"
)

// IsLocalHTTP reports whether the URL is one of plain HTTP on this machine: its host is
// localhost or a loopback address.
func IsLocalHTTP(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}
