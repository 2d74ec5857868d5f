package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// TrustedNetworks returns the networks of server.trusted_proxies, which Load has checked.
func (s Server) TrustedNetworks() []netip.Prefix { return networksOf(s.TrustedProxies) }

func networksOf(texts []string) (networks []netip.Prefix) {
	for _, text := range texts {
		if network, err := parseNetwork(text); err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// parseNetwork returns the network of a text such as 10.0.0.0/8, or that of an address
// alone.
func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" || address.Is4In6() {
			return netip.Prefix{}, errNoNetwork
		}
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil || network.Addr().Is4In6():
		return netip.Prefix{}, errNoNetwork
	case network.Bits() == 0:
		return netip.Prefix{}, errors.New("must not contain every address")
	case network != network.Masked():
		return netip.Prefix{}, fmt.Errorf("must be the first address of a network, such as %s", network.Masked())
	}
	return network, nil
}

var errNoNetwork = errors.New("must be networks such as 10.0.0.0/8 or 2001:db8::/32, or IP addresses")
