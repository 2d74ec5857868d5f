package server

import (
	"context"
	"log/slog"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler/login"
	"github.com/guidonhq/guidon/runtimes/server/telemetry"
)

// openTracer returns the configured tracer, or nil.
func openTracer(ctx context.Context, c *config.Config, version string, logger *slog.Logger) (*telemetry.Tracer, error) {
	if !c.Tracing.Enabled {
		return nil, nil
	}
	return telemetry.NewTracer(ctx, telemetry.TracerConfig{
		Config: collector(c.Tracing.OTLP, version, logger), Ratio: c.Tracing.SamplingRatio, Entities: c.Log.Evaluations.Entities,
	})
}

func collector(c config.OTLP, version string, logger *slog.Logger) telemetry.Config {
	return telemetry.Config{Endpoint: c.Endpoint, Headers: c.Headers, Version: version, Logger: logger}
}

// tracedSignIns also traces the requests to providers.
type tracedSignIns struct {
	login.Observer
	tracer *telemetry.Tracer
}

// ProviderAsked implements [login.Observer].
func (s tracedSignIns) ProviderAsked(ctx context.Context, provider, kind string) (answered func(result string)) {
	count, end := s.Observer.ProviderAsked(ctx, provider, kind), s.tracer.Provider(ctx, provider, kind)
	return func(result string) {
		count(result)
		end(result)
	}
}
