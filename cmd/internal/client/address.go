package client

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/store/redact"
)

// defaultPorts has the schemes of addresses, and the ports used if they name none.
var defaultPorts = map[string]string{"http": "80", "https": "443", "grpc": "9000", "grpcs": "9000"}

// parse returns the address as a URL, or an error unless [Dial] supports it.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname()+u.Port() == "" {
		return nil, fmt.Errorf("invalid address %s: must have the form http://host:8080 or grpc://host:9000", shown(address))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || redact.Check(address) != nil {
		return nil, fmt.Errorf("invalid address %s: must have no user, query or fragment; the token is a separate option", shown(address))
	}
	if defaultPorts[u.Scheme] == "" {
		return nil, fmt.Errorf("invalid address %s: unknown scheme; use http, https, grpc or grpcs", shown(address))
	}
	if isGRPC(u) && strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("invalid address %s: must have no path for gRPC", shown(address))
	}
	return u, nil
}

func isGRPC(u *url.URL) bool { return strings.HasPrefix(u.Scheme, "grpc") }

// Normalize returns the address in a form that is the same for all spellings of it: scheme
// and host in lower case, no default port, and no slash at the end. It returns an error for
// an address that [Dial] does not support.
func Normalize(address string) (string, error) {
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && (port != defaultPorts[u.Scheme] || host == "") {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	server := url.URL{Scheme: u.Scheme, Host: host}
	return server.String() + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// shown returns the address without secrets, quoted.
func shown(address string) string {
	if strings.ContainsAny(address, "@?#") {
		address = redact.URL(address) + "…"
	}
	return strconv.Quote(address)
}
