package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
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

// Networks returns webhooks.allowed_networks, which Load has checked.
func (w Webhooks) Networks() []netip.Prefix { return networksOf(w.AllowedNetworks) }

// Proxy returns webhooks.proxy_url, or nil if there is none.
func (w Webhooks) Proxy() *url.URL {
	if w.ProxyURL == "" {
		return nil
	}
	return parsed(w.ProxyURL)
}

func (w Webhooks) check(found *problems) {
	for _, text := range w.AllowedNetworks {
		if _, err := parseNetwork(text); err != nil {
			found.key("webhooks.allowed_networks", fmt.Sprintf("%v, not %q", err, text))
		}
	}
	if w.ProxyURL == "" {
		return
	}
	if u, valid := webURL(w.ProxyURL); !valid || u.Path != "" && u.Path != "/" {
		found.key("webhooks.proxy_url", "must be a URL such as http://proxy.example:3128")
	}
}

// webURL returns the URL of the text, and whether it has a host and is http or https.
func webURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
}
