package loginstate

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon"
)

// maxReturnTo is the maximum length of a return path in bytes.
const maxReturnTo = 512

// CheckReturnTo returns InvalidArgument unless a browser can be sent to returnTo after
// signing in without leaving this service: it must be a path below the public URL, with
// or without a query. It is strict because browsers and proxies read unusual paths in
// different ways. The error does not repeat the path.
func CheckReturnTo(returnTo string) error {
	if rule := brokenRule(returnTo); rule != "" {
		return guidon.Errorf(guidon.InvalidArgument, "invalid return_to: must %s", rule)
	}
	return nil
}

// brokenRule returns the first rule that the path breaks, or "".
func brokenRule(returnTo string) string {
	switch {
	case len(returnTo) > maxReturnTo:
		return "not exceed 512 bytes"
	case !strings.HasPrefix(returnTo, "/"):
		return `begin with "/"`
	case strings.HasPrefix(returnTo, "//"), strings.HasPrefix(returnTo, `/\`):
		return `begin with only one "/"`
	case strings.ContainsFunc(returnTo, isUnsafe):
		return "consist of printable ASCII characters, without spaces, backslashes and #"
	}
	u, err := url.Parse(returnTo)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "be a path, with or without a query"
	}
	decoded, err := url.PathUnescape(returnTo)
	if err != nil {
		return "have no malformed percent-encoding"
	}
	return brokenAfterDecoding(returnTo, decoded, u.Path)
}

func isUnsafe(r rune) bool { return r <= ' ' || r > '~' || r == '\\' || r == '#' }

// brokenAfterDecoding is brokenRule for characters that percent-encoding may hide. path is the
// decoded path without the query.
func brokenAfterDecoding(returnTo, decoded, path string) string {
	switch {
	case strings.ContainsFunc(decoded, unicode.IsControl):
		return "have no encoded control characters"
	case strings.Count(decoded, "/") != strings.Count(returnTo, "/"), strings.Contains(decoded, `\`):
		return "have no encoded slashes and backslashes"
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return `have no segment "." or ".."`
		}
	}
	if path == "/auth" || strings.HasPrefix(path, "/auth/") {
		return "not be below /auth/"
	}
	return ""
}
