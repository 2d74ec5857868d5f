package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Tracing configures which requests are traced, and where the spans are sent.
type Tracing struct {
	Enabled       bool     `key:"enabled" default:"false"`
	Exporter      string   `key:"exporter" default:"otlp"`
	SamplingRatio float64  `key:"sampling_ratio" default:"1" min:"0" max:"1"`
	Propagators   []string `key:"propagators" default:"tracecontext baggage"`
	OTLP          OTLP     `key:"otlp"`
}

// OTLP configures a collector.
type OTLP struct {
	Endpoint string            `key:"endpoint"`
	Headers  map[string]string `key:"headers" secret:"true"`
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
