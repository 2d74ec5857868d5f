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

// TokenFromCookies returns the value of the token cookie, or "" if there is none.
func TokenFromCookies(lines []string) string {
	for _, line := range lines {
		if !strings.Contains(line, tokenCookie) {
			continue
		}
		cookies, err := http.ParseCookie(line)
		if err != nil {
			continue
		}
		for _, c := range cookies {
			if c.Name == tokenCookie {
				return c.Value
			}
		}
	}
	return ""
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
