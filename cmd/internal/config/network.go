package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/login/provider"
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

// PublicPath returns the path of server.public_url, such as /base, or "" if it has none.
func (s Server) PublicPath() string { return parsed(s.PublicURL).Path }

// PublicOrigin returns the origin of server.public_url as browsers send it, such as
// https://flags.example, or "" if the URL is not configured.
func (s Server) PublicOrigin() string {
	u := parsed(s.PublicURL)
	origin, _ := exchange.ParseOrigin(u.Scheme + "://" + u.Host)
	return origin
}

// PublicHost returns the host of server.public_url without the port, in lower case, or ""
// if the URL is not configured.
func (s Server) PublicHost() string { return strings.ToLower(parsed(s.PublicURL).Hostname()) }

// Hosts returns the host names to accept: those of server.allowed_hosts, and the public
// one.
func (s Server) Hosts() []string {
	host := s.PublicHost()
	if host == "" || slices.Contains(s.AllowedHosts, host) {
		return s.AllowedHosts
	}
	return append(slices.Clone(s.AllowedHosts), host)
}

// StreamsPublicURL returns streams.public_url or else server.public_url.
func (c *Config) StreamsPublicURL() string {
	return cmp.Or(c.Streams.PublicURL, c.Server.PublicURL)
}

func (s Server) publicHTTPS() bool { return parsed(s.PublicURL).Scheme == "https" }

// parsed returns the URL, which is empty if it is invalid.
func parsed(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		return new(url.URL)
	}
	return u
}

// publicPath allows only characters that are safe in cookies and headers.
var publicPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// isPublicURL reports whether the text is an absolute URL without trailing slash, to which
// paths can be appended.
func isPublicURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isHostPort(u) {
		return false
	}
	if u.User != nil || strings.ContainsAny(text, "?#%") || !publicPath.MatchString(u.Path) {
		return false
	}
	segments := strings.Split(u.Path, "/")
	return !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
}

// isHostPort reports whether the URL has the name or the address of a host, and no other
// port than a valid one.
func isHostPort(u *url.URL) bool {
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" || strings.HasSuffix(u.Host, ":") {
		return false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return true
	}
	return isHostName(u.Hostname())
}

func (s Server) checkPublicURL(found *problems) {
	if s.PublicURL != "" && !isPublicURL(s.PublicURL) {
		found.key("server.public_url", "must be a URL such as https://flags.example or https://flags.example/base, without a trailing slash")
	}
}

// checkPublicScheme adds a problem if the public URL is not https, and session.secure does
// not allow that.
func (c *Config) checkPublicScheme(found *problems) {
	s := c.Server
	if s.PublicURL == "" || !isPublicURL(s.PublicURL) || s.publicHTTPS() || provider.IsLocalHTTP(s.PublicURL) || c.Authentication.Session.insecure() {
		return
	}
	found.key("server.public_url", "must be https, because others could read the session cookies; authentication.session.secure (GUIDON_AUTHENTICATION_SESSION_SECURE) false allows http")
}
