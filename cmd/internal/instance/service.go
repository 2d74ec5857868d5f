package instance

import (
	"context"
	"log/slog"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler"
)

// HandlerConfig returns what the handler of the configuration is made of, but for
// what only the runtime knows: health, outage, metrics, profiler.
func HandlerConfig(c *config.Config, service *guidon.Service, info handler.Info, logger *slog.Logger) handler.Config {
	h := handler.Config{
		Service: service,
		Authentication: handler.AuthenticationConfig{
			Required:          c.Authentication.Required,
			ExcludeManagement: c.Authentication.Exclude.Management,
			ExcludeEvaluation: c.Authentication.Exclude.Evaluation,
			ExcludeOFREP:      c.Authentication.Exclude.OFREP,
			TokenMethod:       c.Authentication.Methods.Token.Enabled,
		},
		AllowedHosts:  c.Server.AllowedHosts,
		Info:          info,
		Configuration: c.JSON(),
		Logger:        logger,
		Timeout:       c.Server.RequestTimeout,
	}
	if c.Log.Evaluations.Enabled {
		h.Observer = handler.NewEvaluationLog(logger, c.Log.Evaluations.Entities)
	}
	if c.CORS.Enabled {
		h.CORS = &handler.CORSConfig{AllowedOrigins: c.CORS.AllowedOrigins, AllowedHeaders: c.CORS.AllowedHeaders}
	}
	return h
}

// Bootstrap creates the first token. Only one that nobody else knows is told.
func Bootstrap(ctx context.Context, c config.Token, service *guidon.Service, logger *slog.Logger) error {
	if !c.Enabled {
		return nil
	}
	ctx = guidon.WithCall(ctx, &guidon.Call{Actor: guidon.Actor{ID: "system:bootstrap"}})
	random, created, err := service.Bootstrap(ctx, guidon.BootstrapInput{
		Token: c.Bootstrap.Token, Expiration: c.Bootstrap.Expiration, Metadata: c.Bootstrap.Metadata,
	})
	switch {
	case err != nil:
		return err
	case random != "":
		logger.Info("bootstrap token created", "token", random)
	case created:
		logger.Info("bootstrap token created")
	}
	return nil
}
