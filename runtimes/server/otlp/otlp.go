// Package otlp is what traces and metrics have in common that are sent to a collector of
// OpenTelemetry.
package otlp

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/guidonhq/guidon/handler/call"
)

// Config is where something is sent. What it leaves out is as the variables OTEL_… say.
type Config struct {
	Endpoint string            // a URL, or host:port for gRPC without TLS; empty means that of the variables, or localhost
	Headers  map[string]string // sent to the collector
	Version  string            // of the service
	Logger   *slog.Logger
}

// Target returns the scheme http, https, grpc or grpcs and the rest of the endpoint of a signal,
// "traces" or "metrics". The rest is empty if the variables name the endpoint.
func (c Config) Target(signal string) (scheme, address string) {
	switch overHTTP := variable(signal, "PROTOCOL") != "grpc"; {
	case c.Endpoint == "" && variable(signal, "ENDPOINT") != "" && overHTTP:
		return "http", ""
	case c.Endpoint == "" && variable(signal, "ENDPOINT") != "":
		return "grpc", ""
	case c.Endpoint == "" && overHTTP && variable(signal, "PROTOCOL") != "":
		return "http", "localhost:4318/v1/" + signal
	}
	scheme, address, found := strings.Cut(cmp.Or(c.Endpoint, "localhost:4317"), "://")
	if !found {
		scheme, address = "grpc", scheme
	}
	if strings.HasPrefix(scheme, "http") && !strings.Contains(address, "/") {
		address += "/v1/" + signal
	}
	return scheme, address
}

// variable returns the value of a variable for the signal, or else of that for all signals.
func variable(signal, name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// Resource returns what says that this is a server of Guidon.
func (c Config) Resource(ctx context.Context) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("guidon"), semconv.ServiceVersion(c.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// flushTimeout limits how long the last data may take.
const flushTimeout = 3 * time.Second

// State logs when something can no longer be sent, and when it can again, once each.
type State struct {
	What   string // that is sent
	Logger *slog.Logger
	failed atomic.Bool
}

// Sent notes the error of an attempt, or nil.
func (s *State) Sent(err error) {
	switch failed := err != nil; {
	case s.failed.Swap(failed) == failed:
	case failed:
		s.Logger.Warn("cannot send "+s.What+" to the collector; some will be lost", "error", call.Clip(err.Error()))
	default:
		s.Logger.Info("the collector accepts " + s.What + " again")
	}
}

// HandleErrors logs the first of those errors that the SDK returns to nobody, such as that the
// collector has rejected a part.
func HandleErrors(logger *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc((&State{What: "everything", Logger: logger}).Sent))
}

// Stop calls shutdown, which sends what is left, with a time limit.
func (s *State) Stop(shutdown func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		s.Logger.Warn("the last "+s.What+" were not sent", "error", call.Clip(err.Error()))
	}
}
