package provider

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Invalid returns the error about the value of a field of the configuration, or nil if err is nil.
func Invalid(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("invalid %s: %w", field, err)
}

// CheckURL returns an error if the URL is not absolute, is neither https nor, where
// allowHTTP is true, http on a loopback address, or has a user or a fragment.
func CheckURL(raw string, allowHTTP bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("must be a URL")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("must be a URL with a host")
	case u.User != nil:
		return errors.New("must be a URL without a user")
	case u.Fragment != "":
		return errors.New("must be a URL without a fragment")
	case u.Scheme == "https", allowHTTP && IsLocalHTTP(raw):
		return nil
	}
	return errors.New("must be an https URL")
}

// CheckBaseURL returns an error unless paths can be appended to the URL of a service: https,
// or http on this machine, without user, query and fragment. The error does not quote the URL.
func CheckBaseURL(raw string) error {
	if strings.ContainsAny(raw, "?#") {
		return errors.New("must be a URL without query and fragment")
	}
	if u, err := url.Parse(raw); err == nil && u.Scheme == "http" && !IsLocalHTTP(raw) {
		return errors.New("must be https; http is only for localhost and loopback addresses")
	}
	return CheckURL(raw, true)
}

// CheckRedirectURI returns an error unless the URL can be that of a callback. Plain HTTP is
// accepted: whether people may use that is decided by the configuration of the server.
func CheckRedirectURI(uri string) error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || strings.Contains(uri, "#") {
		return errors.New("must be an https or http URL without user and fragment")
	}
	return nil
}

var scopePattern = regexp.MustCompile(`^[!#-\[\]-~]{1,255}$`) // RFC 6749 3.3

// CheckScopes returns an error if one of the scopes is malformed.
func CheckScopes(scopes []string) error {
	for _, scope := range scopes {
		if !scopePattern.MatchString(scope) {
			return fmt.Errorf("must be scopes of printable ASCII characters, without spaces, quotes and backslashes, not %q", scope)
		}
	}
	return nil
}

// SafeURL returns the URL if a page may show it, otherwise "".
func SafeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return raw
}

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
