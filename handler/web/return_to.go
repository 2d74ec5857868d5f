package web

import (
	"net/url"
	"strings"
)

// home is where visitors are sent after signing in unless they came from another page. It
// shows them as whom they are signed in.
const home = signInPath

// returnTo returns where to send the visitor after signing in: to the path, to the path
// without its query if only that is allowed, or otherwise home.
func (s *Site) returnTo(path string) string {
	if path == "" {
		return home
	}
	withoutQuery, _, _ := strings.Cut(path, "?")
	for _, candidate := range []string{path, withoutQuery} {
		if s.config.CheckReturnTo(candidate) == nil {
			return candidate
		}
	}
	return home
}

// signInFor returns the address of the sign-in page for a visitor on the way to a path that
// is allowed.
func (s *Site) signInFor(path string) string {
	if path == home {
		return s.path(signInPath)
	}
	return s.path(signInPath + "?" + url.Values{"return_to": {path}}.Encode())
}
