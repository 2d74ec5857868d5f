package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/internal/clock"
)

// check adds the problems of values and of their combinations.
func (c *Config) check(found *problems) {
	if c.Version != "1.0" {
		found.key("version", "must be 1.0, the only version; write it in quotes")
	}
	c.Server.check(found)
	c.DB.check(found)
	c.Cache.check(c.DB, found)
	c.Changes.check(found)
	c.Streams.check(found)
	c.Webhooks.check(found)
	c.Audit.check(found)
	c.Log.check(found)
	c.CORS.check(found)
	c.Metrics.OTLP.check("metrics.otlp", found)
	c.Tracing.check(found)
	c.checkAuthentication(found)
	c.checkPublicScheme(found)
	c.checkSession(found)
	c.checkAuthorization(found)
	c.UI.check(found)
	c.Lambda.check(found)
}

func (s Server) check(found *problems) {
	if s.Host != strings.TrimSpace(s.Host) || strings.ContainsAny(s.Host, "/ ") {
		found.key("server.host", "must be a host name or an IP address, without scheme and port")
	}
	port := "server.http_port"
	if s.TLS() {
		port = "server.https_port"
		requireFile(found, "server.cert_file", s.CertFile)
		requireFile(found, "server.cert_key", s.CertKey)
	}
	if s.WebPort() == s.GRPCPort && s.GRPCPort != 0 {
		found.key("server.grpc_port", "must differ from "+port)
	}
	s.checkDiagnostics(port, found)
	s.checkPublicURL(found)
	for _, text := range s.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			found.key("server.trusted_proxies", fmt.Sprintf("%v, not %q", err, text))
		}
	}
	for _, name := range s.AllowedHosts {
		if name != "*" && !isHostName(name) {
			found.key("server.allowed_hosts",
				"must be * or host names such as flags.example, without scheme, port or pattern, not "+strconv.Quote(name))
		}
	}
}

// checkDiagnostics checks the address of the diagnostics listener. webPort is the key
// of the HTTP listener's port.
func (s Server) checkDiagnostics(webPort string, found *problems) {
	const key = "server.diagnostics_address"
	if s.DiagnosticsAddress == "" {
		return
	}
	host, text, err := net.SplitHostPort(s.DiagnosticsAddress)
	port, notNumber := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil || notNumber != nil || strings.ContainsAny(host, "/ "):
		found.key(key,
			"must be an address and a port such as 127.0.0.1:8081, or :8081 for all addresses, not "+strconv.Quote(s.DiagnosticsAddress))
	case port == 0: // any free port
	case int(port) == s.WebPort():
		found.key(key, "must have a different port from "+webPort)
	case int(port) == s.GRPCPort:
		found.key(key, "must have a different port from server.grpc_port")
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$`)

func isHostName(text string) bool { return len(text) <= 253 && hostName.MatchString(text) }

func requireFile(found *problems, key, path string) {
	if path == "" {
		found.key(key, "is required if server.protocol is https")
		return
	}
	found.check(key, checkFile(path))
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errors.New(path + " is a directory, not a file")
	}
	return err
}

func (c Changes) check(found *problems) {
	if c.Retention != 0 && c.Retention < MinRetention {
		found.key("changes.retention", fmt.Sprintf("must be 0s, which keeps all records, or at least 24h, not %q", clock.Text(c.Retention)))
	}
}

func (s Streams) check(found *problems) {
	if s.PublicURL == "" {
		return
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(s.PublicURL, "/") {
		found.key("streams.public_url", "must be a URL such as https://flags.example/base, without a trailing slash")
	}
}

func (l Log) check(found *problems) {
	if l.Evaluations.Entities && !l.Evaluations.Enabled {
		found.key("log.evaluations.entities", "requires log.evaluations.enabled")
	}
	keys := []struct{ name, value string }{
		{"log.keys.time", l.Keys.Time}, {"log.keys.level", l.Keys.Level}, {"log.keys.message", l.Keys.Message},
	}
	for i, key := range keys {
		if key.value == "" {
			found.key(key.name, "must not be empty")
		}
		for _, other := range keys[:i] {
			if key.value == other.value && key.value != "" {
				found.key(key.name, "must differ from "+other.name)
			}
		}
	}
}

func (c CORS) check(found *problems) {
	if c.Enabled && len(c.AllowedOrigins) == 0 {
		found.key("cors.allowed_origins", "must contain at least one origin if cors.enabled is true; * allows any")
	}
	for _, origin := range c.AllowedOrigins {
		if !strings.Contains(origin, "*") && !isOrigin(origin) {
			found.key("cors.allowed_origins", "must be * or origins such as https://shop.example, not "+strconv.Quote(origin))
		}
	}
	for _, header := range c.AllowedHeaders {
		if header == "" || strings.ContainsAny(header, " \t\r\n:,") {
			found.key("cors.allowed_headers", "must be header names, not "+strconv.Quote(header))
		}
	}
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil && u.Path == "" && u.RawQuery == "" && u.Fragment == ""
}

func (t Tracing) check(found *problems) {
	if t.Exporter != "otlp" {
		found.key("tracing.exporter", fmt.Sprintf("must be otlp, not %q; Jaeger and the collectors of others accept it", t.Exporter))
	}
	for _, name := range t.Propagators {
		if name != "tracecontext" && name != "baggage" {
			found.key("tracing.propagators", fmt.Sprintf("must be tracecontext and baggage only, not %q", name))
		}
	}
	t.OTLP.check("tracing.otlp", found)
}

func (o OTLP) check(key string, found *problems) {
	if o.Endpoint != "" && !isCollector(o.Endpoint) {
		found.key(key+".endpoint",
			"must be a URL with http, https, grpc or grpcs and without user, or a host and port for gRPC without TLS, such as localhost:4317")
	}
}

// isCollector reports whether the text names where a collector listens.
func isCollector(text string) bool {
	if !strings.Contains(text, "://") {
		text = "grpc://" + text
	}
	u, err := url.Parse(text)
	return err == nil && slices.Contains([]string{"http", "https", "grpc", "grpcs"}, u.Scheme) &&
		u.Hostname() != "" && u.User == nil && u.RawQuery == ""
}

var basePath = regexp.MustCompile(`^[A-Za-z0-9._~/-]*$`)

func (l Lambda) check(found *problems) {
	if !basePath.MatchString(l.BasePath) {
		found.key("lambda.base_path", "must be a path such as /flags, of letters, digits, slashes and ._~-")
	}
}
