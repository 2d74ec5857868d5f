package call

import (
	"net/http"
	"strings"
)

// The cookies of a browser session.
const (
	tokenCookie = "service_client_token"
	stateCookie = "service_client_state"
)

// HasSession reports whether the header has the cookie of a session.
func HasSession(header http.Header) bool { return len(sessionTokens(header["Cookie"])) > 0 }

// sessionTokens returns the values of the token cookies that are not empty.
func sessionTokens(lines []string) (tokens []string) {
	for _, line := range lines {
		if !strings.Contains(line, tokenCookie) {
			continue
		}
		cookies, err := http.ParseCookie(line)
		if err != nil {
			continue
		}
		for _, c := range cookies {
			if c.Name == tokenCookie && c.Value != "" {
				tokens = append(tokens, c.Value)
			}
		}
	}
	return tokens
}

// ExpiredCookies returns the values of Set-Cookie that make a browser delete both
// cookies of a session.
func ExpiredCookies() []string {
	var values []string
	for _, name := range []string{stateCookie, tokenCookie} {
		// #nosec G124 -- there is no value to keep safe, and plain HTTP could not clear a Secure one
		c := http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}
		values = append(values, c.String())
	}
	return values
}
