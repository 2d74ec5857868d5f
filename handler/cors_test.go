package handler_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/exchange"
)

// corsHeaders returns the headers of CORS.
func corsHeaders(r reply) map[string]string {
	found := map[string]string{}
	for name, values := range r.header {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			found[name] = strings.Join(values, ", ")
		}
	}
	return found
}

const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

// TestCORS tests contract 11.
func TestCORS(t *testing.T) {
	allowed := func(origin string) map[string]string {
		return map[string]string{
			"Vary": "Origin", "Access-Control-Allow-Origin": origin,
			"Access-Control-Expose-Headers": "Link, ETag, Guidon-Revision, Guidon-Stale, X-Request-Id, Retry-After",
		}
	}
	preflight := func(origin, method, headers string) map[string]string {
		h := map[string]string{
			"Vary": preflightVary, "Access-Control-Allow-Origin": origin,
			"Access-Control-Allow-Methods": method, "Access-Control-Max-Age": "300",
		}
		if headers != "" {
			h["Access-Control-Allow-Headers"] = headers
		}
		return h
	}
	denied, plain := map[string]string{"Vary": preflightVary}, map[string]string{"Vary": "Origin"}
	all := "accept, authorization, content-type, x-csrf-token, x-fern-language, x-fern-sdk-name, x-fern-sdk-version, x-flipt-namespace, " +
		"x-flipt-accept-server-version, x-flipt-environment, if-none-match, if-match, x-request-id, x-guidon-namespace, cache-control, guidon-min-revision, guidon-message, guidon-dry-run, grpc-timeout, x-api-key, traceparent, tracestate"
	var off *exchange.CORSConfig
	anyOrigin := &exchange.CORSConfig{}
	listed := &exchange.CORSConfig{AllowedOrigins: []string{"https://a.example"}}
	listedOtherwise := &exchange.CORSConfig{AllowedOrigins: []string{"https://A.example"}}
	wildcard := &exchange.CORSConfig{AllowedOrigins: []string{"https://*.example"}}
	ownHeaders := &exchange.CORSConfig{AllowedHeaders: []string{"X-Other"}}
	anyHeader := &exchange.CORSConfig{AllowedHeaders: []string{"*"}}
	servers := map[*exchange.CORSConfig]*server{}
	for _, config := range []*exchange.CORSConfig{off, anyOrigin, listed, listedOtherwise, wildcard, ownHeaders, anyHeader} {
		servers[config] = newServer(t, func(c *handler.Config) { c.CORS = config })
	}
	for _, test := range []struct {
		name                    string
		config                  *exchange.CORSConfig
		method, origin          string
		requestMethod, requests string
		status                  int
		want                    map[string]string
	}{
		{"off", off, "GET", "https://a.example", "", "", 200, map[string]string{}},
		{"off, preflight", off, "OPTIONS", "https://a.example", "GET", "", 501, map[string]string{}},
		{"any origin", anyOrigin, "GET", "https://a.example", "", "", 200, allowed("*")},
		{"no origin", anyOrigin, "GET", "", "", "", 200, plain},
		{"any origin, preflight", anyOrigin, "OPTIONS", "https://a.example", "PUT", all, 200, preflight("*", "PUT", all)},
		{"without headers", anyOrigin, "OPTIONS", "https://a.example", "DELETE", "", 200, preflight("*", "DELETE", "")},
		{"a method that is not allowed", anyOrigin, "OPTIONS", "https://a.example", "PATCH", "", 200, denied},
		{"a header that is not allowed", anyOrigin, "OPTIONS", "https://a.example", "GET", "X-Other", 200, denied},
		{"not a preflight", anyOrigin, "OPTIONS", "https://a.example", "", "", 501, allowed("*")},
		{"a listed origin", listedOtherwise, "GET", "https://a.example", "", "", 200, allowed("https://a.example")},
		{"another origin", listed, "GET", "https://b.example", "", "", 200, plain},
		{"another origin, preflight", listed, "OPTIONS", "https://b.example", "GET", "", 200, denied},
		{"a wildcard", wildcard, "GET", "https://a.example", "", "", 200, allowed("https://a.example")},
		{"a wildcard elsewhere", wildcard, "GET", "https://a.example.net", "", "", 200, plain},
		{"own headers", ownHeaders, "OPTIONS", "https://a.example", "GET", "x-other,if-match", 200, preflight("*", "GET", "x-other,if-match")},
		{"own headers replace the default ones", ownHeaders, "OPTIONS", "https://a.example", "GET", "authorization", 200, denied},
		{"any header", anyHeader, "OPTIONS", "https://a.example", "GET", "anything", 200, preflight("*", "GET", "anything")},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *servers[test.config]
			s.t = t
			var headers []string
			for name, value := range map[string]string{
				"Origin": test.origin, "Access-Control-Request-Method": test.requestMethod, "Access-Control-Request-Headers": test.requests,
			} {
				if value != "" {
					headers = append(headers, name, value)
				}
			}
			r := s.do(test.method, "/api/v1/namespaces", "", headers...)
			if r.status != test.status {
				t.Errorf("status %d, want %d", r.status, test.status)
			}
			if diff := cmp.Diff(test.want, corsHeaders(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCORSCredentials: of the pages that CORS allows to read responses, only those of
// trusted origins, which are exact, may send cookies with a request.
func TestCORSCredentials(t *testing.T) {
	for _, test := range []struct {
		name, allowed, trusted, origin string
		want, credentials              string // the headers
	}{
		{"nobody is trusted", "*", "", "https://a.example", "*", ""},
		{"trusted", "*", "https://a.example", "https://a.example", "https://a.example", "true"},
		{"trusted, in the form of a configuration", "*", "HTTPS://A.example:443", "https://a.example", "https://a.example", "true"},
		{"trusted and listed", "https://a.example", "https://a.example", "https://a.example", "https://a.example", "true"},
		{"trusted and matched", "https://*.example", "https://a.example", "https://a.example", "https://a.example", "true"},
		{"listed only", "https://b.example", "https://a.example", "https://b.example", "https://b.example", ""},
		{"matched only", "https://*.example", "https://a.example", "https://b.example", "https://b.example", ""},
		{"trusted only", "https://b.example", "https://a.example", "https://a.example", "", ""},
		{"another scheme", "*", "https://a.example", "http://a.example", "*", ""},
		{"another port", "*", "https://a.example", "https://a.example:8443", "*", ""},
		{"another site", "*", "https://a.example", "https://a.example.evil.example", "*", ""},
		{"a sandboxed page", "*", "https://a.example", "null", "*", ""},
		{"the service itself", "*", "https://a.example", "https://flags.example", "*", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, func(c *handler.Config) {
				c.CORS, c.PublicOrigin = &exchange.CORSConfig{AllowedOrigins: []string{test.allowed}}, "https://flags.example"
				if test.trusted != "" {
					c.TrustedOrigins = []string{test.trusted}
				}
			})
			for _, r := range []reply{
				s.do("GET", "/api/v1/namespaces", "", "Origin", test.origin),
				s.do("GET", "/nowhere", "", "Origin", test.origin),
				s.do("OPTIONS", "/api/v1/namespaces", "", "Origin", test.origin, "Access-Control-Request-Method", "PUT"),
			} {
				got := []string{r.header.Get("Access-Control-Allow-Origin"), r.header.Get("Access-Control-Allow-Credentials")}
				if diff := cmp.Diff([]string{test.want, test.credentials}, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if vary := r.header.Get("Vary"); !strings.HasPrefix(vary, "Origin") {
					t.Errorf("Vary %q", vary)
				}
			}
		})
	}
}

// TestCORSOnErrors: pages can read the error of a rejected request.
func TestCORSOnErrors(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) { c.CORS = &exchange.CORSConfig{} })
	r := s.do(http.MethodGet, "/api/v1/flags", "", "Origin", "https://a.example")
	if got := r.header.Get("Access-Control-Allow-Origin"); r.status != 401 || got != "*" {
		t.Errorf("%d %q", r.status, got)
	}
}
