package lambda

import (
	"net/url"
	"strings"
)

// cleanBasePath returns the base path with a slash before it and none after it,
// or "" for none.
func cleanBasePath(base string) string {
	base = strings.Trim(strings.TrimSpace(base), "/")
	if base == "" {
		return ""
	}
	return "/" + base
}

// target returns the path, escaped as a caller of net/http would have written it,
// without stage and base path. A path that should be escaped and cannot be is
// taken as it is.
func (e *event) target(basePath string) string {
	path := e.path
	if e.front.decodedPath || !isEscaped(path) {
		path = (&url.URL{Path: path}).EscapedPath()
	}
	if e.front.stagedPath && e.stage != "" && e.stage != "$default" {
		path = cutPrefix(path, "/"+e.stage)
	}
	path = cutPrefix(path, basePath)
	if !strings.HasPrefix(path, "/") {
		return "/" + path
	}
	return path
}

// cutPrefix returns the path without the folder that it lies in, if it does:
// /production is not in /prod.
func cutPrefix(path, prefix string) string {
	if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

// isEscaped tells whether the text can be the path of a URL.
func isEscaped(path string) bool {
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c <= ' ' || c >= 0x7f || c == '?' || c == '#':
			return false
		case c == '%' && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])):
			return false
		}
	}
	return true
}

// isQuery tells whether the text can be the query of a URL.
func isQuery(query string) bool {
	for i := range len(query) {
		if c := query[i]; c < ' ' || c == 0x7f || c == '#' {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// isMethod tells whether the text can be a method (RFC 9110 5.6.2).
func isMethod(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}
