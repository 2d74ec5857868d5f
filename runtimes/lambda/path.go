package lambda

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// cleanBasePath returns the base path with a leading and without a trailing slash, or ""
// if there is none.
func cleanBasePath(base string) string {
	base = strings.Trim(strings.TrimSpace(base), "/")
	if base == "" {
		return ""
	}
	return "/" + base
}

// target returns the escaped path without stage and base path, and these, which a browser
// needs in the addresses of pages. A path that is not validly escaped, although it should
// be, is treated as unescaped.
func (e *event) target(basePath string) (path, removed string) {
	whole := e.path
	if e.front.decodedPath || !isEscaped(whole) {
		whole = (&url.URL{Path: whole}).EscapedPath()
	}
	path = whole
	if e.front.stagedPath && e.stage != "" && e.stage != "$default" {
		path = cutPrefix(path, "/"+e.stage)
	}
	path = cutPrefix(path, basePath)
	removed = strings.TrimSuffix(whole, path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path, e.unseen() + removed
}

// unseen returns the part of the caller's path that the front has removed itself: a REST API
// removes the stage, which addresses at its own host name begin with.
func (e *event) unseen() string {
	stage := "/" + e.stage
	if e.front == restAPI && e.callerPath == stage+e.path {
		return stage
	}
	return ""
}

// removedKey is the key of the removed prefix in the context of a request.
type removedKey struct{}

// RemovedPath returns the prefix that was removed from the path of the request: the stage
// of an API, the base path, or both; "" if there was none.
func RemovedPath(r *http.Request) string {
	removed, _ := r.Context().Value(removedKey{}).(string)
	return removed
}

// withRemoved returns a context for a request from whose path the prefix was removed.
func withRemoved(ctx context.Context, removed string) context.Context {
	if removed == "" {
		return ctx
	}
	return context.WithValue(ctx, removedKey{}, removed)
}

// cutPrefix returns the path without the prefix. The prefix must end at a segment:
// /production does not have the prefix /prod.
func cutPrefix(path, prefix string) string {
	if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

// isEscaped reports whether the path is a validly escaped path of a URL.
func isEscaped(path string) bool {
	_, err := url.PathUnescape(path)
	return err == nil && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '?' || r == '#' })
}

// isQuery reports whether the string can be the query of a URL.
func isQuery(query string) bool {
	return !strings.ContainsFunc(query, func(r rune) bool { return r < ' ' || r == 0x7f || r == '#' })
}

// isMethod reports whether the string can be a method (RFC 9110 5.6.2).
func isMethod(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
