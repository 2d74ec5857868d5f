package exchange

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// privateSuffixes are the suffixes of names that cannot be registered in the public
// DNS: those of RFC 6761, 6762 and 8375, ICANN's .internal, and svc for the services of
// Kubernetes, whose full names end in local.
var privateSuffixes = []string{"localhost", "local", "internal", "svc", "test", "home.arpa"}

// maxHostName is the length of the longest name in DNS.
const maxHostName = 253

// hostRule decides under which host names requests without credentials are accepted.
// The owner of any other name could make it resolve to this service (DNS rebinding).
// To a browser the service would then have the same origin as the owner's pages.
type hostRule struct {
	any   bool
	names []string // lower case, without a trailing dot
}

func newHostRule(allowed []string) hostRule {
	var rule hostRule
	for _, name := range allowed {
		if name == "*" {
			rule.any = true
		}
		rule.names = append(rule.names, strings.TrimSuffix(strings.ToLower(name), "."))
	}
	return rule
}

// check returns PermissionDenied unless the Host of a request is allowed.
func (h hostRule) check(host string) error {
	if h.any {
		return nil
	}
	name, ok := hostName(host)
	if !ok {
		return guidon.Errorf(guidon.PermissionDenied,
			"permission denied: the Host header is missing or malformed, and authentication is not required here (see server.allowed_hosts)")
	}
	if h.allows(name) {
		return nil
	}
	return guidon.Errorf(guidon.PermissionDenied,
		"permission denied: host %q is not in server.allowed_hosts, and authentication is not required here", name)
}

// allows reports whether the name cannot be registered publicly, or is configured. A
// name without any dot belongs to the local network; one whose only dot is at its end is
// a top-level domain.
func (h hostRule) allows(name string) bool {
	bare, rooted := strings.CutSuffix(name, ".")
	if _, err := netip.ParseAddr(bare); err == nil {
		return true
	}
	if !rooted && !strings.Contains(bare, ".") || slices.Contains(h.names, bare) {
		return true
	}
	return slices.ContainsFunc(privateSuffixes, func(suffix string) bool {
		above, ok := strings.CutSuffix(bare, suffix)
		return ok && (above == "" || strings.HasSuffix(above, "."))
	})
}

// hostName returns the name or IP address of a Host header in lower case, without
// port and brackets, and false if it is neither.
func hostName(host string) (name string, ok bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		address, port, closed := strings.Cut(inner, "]")
		ip, err := netip.ParseAddr(address)
		return address, closed && err == nil && ip.Is6() && (port == "" || isPort(port))
	}
	if i := strings.IndexByte(host, ':'); i >= 0 {
		if !isPort(host[i:]) {
			return "", false
		}
		host = host[:i]
	}
	host = strings.ToLower(host)
	if len(host) > maxHostName || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return "", false
	}
	return host, host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// isPort reports whether the text is a colon and any number of digits, even none
// (RFC 3986 3.2.3).
func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return ok && strings.Trim(digits, "0123456789") == ""
}
