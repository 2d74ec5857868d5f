package config

import (
	"fmt"
	"net/netip"
	"net/url"
)

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
