package instance

import (
	"context"
	"errors"
	"log/slog"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/service"
)

// Bootstrap creates the first token of a database that never had one, and logs it if it
// is random. On any other database it logs a warning if the configured token, or every
// token, is rejected.
func Bootstrap(ctx context.Context, c config.Authentication, svc *service.Service, logger *slog.Logger) error {
	token := c.Methods.Token
	if !token.Enabled {
		return nil
	}
	by := service.Write{By: service.Caller{Actor: change.Actor{ID: "system:bootstrap"}}}
	random, created, err := svc.Bootstrap(ctx, by, service.BootstrapInput{
		Token: token.Bootstrap.Token, Expiration: token.Bootstrap.Expiration, Metadata: token.Bootstrap.Metadata,
	})
	switch {
	case err != nil:
		return err
	case random != "":
		logger.Info("bootstrap token created", "token", random)
		return nil
	case created:
		logger.Info("bootstrap token created")
		return nil
	}
	if token.Bootstrap.Token != "" {
		if err := warnUnused(ctx, token.Bootstrap.Token, svc, logger); err != nil {
			return err
		}
	}
	if c.Required {
		return warnLockedOut(ctx, svc, logger)
	}
	return nil
}

// warnUnused logs a warning if the configured first token is not valid.
func warnUnused(ctx context.Context, token string, svc *service.Service, logger *slog.Logger) error {
	_, _, err := svc.Authenticate(ctx, service.Demand{}, "", token)
	if !errors.Is(err, guidon.Unauthenticated) {
		return err
	}
	logger.Warn("the configured bootstrap token is not valid: it is used only for a database that never had a token",
		"key", "authentication.methods.token.bootstrap.token")
	return nil
}

// warnLockedOut logs a warning if there is no valid token for all namespaces.
func warnLockedOut(ctx context.Context, svc *service.Service, logger *slog.Logger) error {
	usable, err := svc.HasAdmin(ctx)
	if err != nil || usable {
		return err
	}
	logger.Warn(`no valid token without a namespace limit exists; create one directly in the database with "guidon token create --role admin"`)
	return nil
}
