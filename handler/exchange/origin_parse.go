package exchange

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParseOrigin returns the origin in the form that browsers send it in (RFC 6454 6.2): in
// lower case, without the default port of its scheme. Its error states the rule.
func ParseOrigin(text string) (string, error) {
	scheme, host, _ := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	name, ok := hostName(host)
	port, valid := portOf(host)
	if !ok || !valid || scheme != "http" && scheme != "https" {
		return "", notAnOrigin(text)
	}
	if address, err := netip.ParseAddr(name); err == nil && address.Is6() {
		if address.Zone() != "" || address.Is4In6() {
			return "", notAnOrigin(text)
		}
		name = "[" + address.String() + "]"
	}
	if port == 0 || scheme == "http" && port == 80 || scheme == "https" && port == 443 {
		return scheme + "://" + name, nil
	}
	return scheme + "://" + name + ":" + strconv.Itoa(port), nil
}

func notAnOrigin(text string) error {
	return fmt.Errorf("must be an origin such as https://flags.example, without path, pattern and trailing slash, not %q", text)
}

// portOf returns the port of a host that hostName accepts, or 0 if it has none.
func portOf(host string) (port int, ok bool) {
	colon := strings.LastIndexByte(host, ':')
	if colon < strings.LastIndexByte(host, ']') || colon < 0 || colon == len(host)-1 {
		return 0, true
	}
	number, err := strconv.ParseUint(host[colon+1:], 10, 16)
	return int(number), err == nil && number > 0
}

// hostOfOrigin returns the name or IP address in an origin that ParseOrigin returned.
func hostOfOrigin(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	name, _ := hostName(host)
	return name
}

// ownOrigins are the origins whose pages may use the session of their visitor, in the form
// of [ParseOrigin].
type ownOrigins struct {
	public  string // of the service itself, or ""
	trusted []string
}

func (o ownOrigins) all() []string {
	if o.public == "" {
		return o.trusted
	}
	return append([]string{o.public}, o.trusted...)
}

// newOwnOrigins returns the origins of the configuration. It panics if one is not valid.
func newOwnOrigins(config Config) (o ownOrigins) {
	if config.PublicOrigin != "" {
		o.public = mustParseOrigin("PublicOrigin", config.PublicOrigin)
	}
	for _, origin := range config.TrustedOrigins {
		o.trusted = append(o.trusted, mustParseOrigin("TrustedOrigins", origin))
	}
	return o
}

func mustParseOrigin(field, text string) string {
	origin, err := ParseOrigin(text)
	if err != nil {
		panic("Config." + field + " " + err.Error())
	}
	return origin
}
