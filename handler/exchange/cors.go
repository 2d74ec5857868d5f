package exchange

import (
	"net/http"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

// CORSConfig configures which pages of other origins may call from a browser.
type CORSConfig struct {
	AllowedOrigins []string // "*" allows every origin, as does an empty list; one "*" in a name matches any string
	AllowedHeaders []string // empty means the headers of contract 11
}

// corsMethods are the methods of the API.
var corsMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}

// defaultCORSHeaders are the headers of contract 11.
var defaultCORSHeaders = []string{
	"Accept", "Authorization", "Content-Type", "X-CSRF-Token", "X-Fern-Language", "X-Fern-SDK-Name",
	"X-Fern-SDK-Version", "X-Flipt-Namespace", "X-Flipt-Accept-Server-Version",
}

// furtherCORSHeaders are always allowed: those that current browser clients send, and
// those that this service supports beyond the contract.
var furtherCORSHeaders = []string{
	"X-Flipt-Environment", "If-None-Match", "If-Match", "X-Request-Id", "X-Guidon-Namespace", "Cache-Control",
	"Guidon-Min-Revision", "Guidon-Message", "Guidon-Dry-Run", "Grpc-Timeout",
	"X-API-Key", "Last-Event-ID", "Traceparent", "Tracestate",
}

const (
	corsExposed = "Link, ETag, Guidon-Revision, Guidon-Stale, X-Request-Id, Retry-After"
	corsMaxAge  = "300"
)

// cors answers preflight requests and sets the CORS headers of responses.
type cors struct {
	origins []string // lower case
	headers []string // lower case
	trusted []string // those whose pages may use the sessions of their visitors
}

func newCORS(config CORSConfig, trusted []string) *cors {
	origins, headers := config.AllowedOrigins, config.AllowedHeaders
	if len(origins) == 0 {
		origins = []string{"*"}
	}
	if len(headers) == 0 {
		headers = defaultCORSHeaders
	}
	return &cors{origins: lower(origins), headers: lower(slices.Concat(headers, furtherCORSHeaders)), trusted: trusted}
}

// serve sets the headers of the response. It answers preflight requests itself, always
// with 200 unless the prefix of the path has another status, and reports whether it did.
func (c *cors) serve(x *Exchange, r *http.Request) (answered bool) {
	header := x.Header()
	header.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		if c.allowsOrigin(origin) {
			c.allow(header, origin)
			header.Set("Access-Control-Expose-Headers", corsExposed)
		}
		return false
	}
	x.Event.Operation, x.Event.Quiet = "preflight", true
	header.Add("Vary", "Access-Control-Request-Method")
	header.Add("Vary", "Access-Control-Request-Headers")
	method, requested := r.Header.Get("Access-Control-Request-Method"), r.Header.Get("Access-Control-Request-Headers")
	if c.allowsOrigin(origin) && slices.Contains(corsMethods, method) && c.allowsHeaders(requested) {
		c.allow(header, origin)
		header.Set("Access-Control-Allow-Methods", method)
		if requested != "" {
			header.Set("Access-Control-Allow-Headers", requested)
		}
		header.Set("Access-Control-Max-Age", corsMaxAge)
	}
	status := http.StatusOK
	if p := x.router.prefixOf(r.URL.Path); p != nil && p.Preflight != 0 {
		status = p.Preflight
	}
	x.WriteHeader(status)
	return true
}

// allow sends the origin as allowed. Only a trusted one may send cookies and read the
// response: no other page may use the session of its visitor.
func (c *cors) allow(header http.Header, origin string) {
	switch {
	case slices.Contains(c.trusted, origin):
		header.Set("Access-Control-Allow-Credentials", "true")
	case slices.Contains(c.origins, "*"):
		origin = "*"
	}
	header.Set("Access-Control-Allow-Origin", origin)
}

func (c *cors) allowsOrigin(origin string) bool {
	origin = strings.ToLower(origin)
	return origin != "" && slices.ContainsFunc(c.origins, func(allowed string) bool {
		before, after, wild := strings.Cut(allowed, "*")
		if !wild {
			return origin == allowed
		}
		return len(origin) >= len(before)+len(after) && strings.HasPrefix(origin, before) && strings.HasSuffix(origin, after)
	})
}

func (c *cors) allowsHeaders(requested string) bool {
	if slices.Contains(c.headers, "*") {
		return true
	}
	for name := range strings.SplitSeq(requested, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && !slices.Contains(c.headers, name) {
			return false
		}
	}
	return true
}

func lower(texts []string) []string {
	return lists.Map(texts, strings.ToLower)
}
