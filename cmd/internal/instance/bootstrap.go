package instance

import (
	"context"
	"errors"
	"log/slog"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
)

// Bootstrap creates the first token of a database that never had one, and logs it if it
// is random. On any other database it logs a warning if the configured token, or every
// token, is rejected.
func Bootstrap(ctx context.Context, c config.Authentication, service *guidon.Service, logger *slog.Logger) error {
	token := c.Methods.Token
	if !token.Enabled {
		return nil
	}
	ctx = guidon.WithCall(ctx, &guidon.Call{Actor: guidon.Actor{ID: "system:bootstrap"}})
	random, created, err := service.Bootstrap(ctx, guidon.BootstrapInput{
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
		if err := warnUnused(ctx, token.Bootstrap.Token, service, logger); err != nil {
			return err
		}
	}
	if c.Required {
		return warnLockedOut(ctx, service, logger)
	}
	return nil
}

// warnUnused logs a warning if the configured first token is not valid.
func warnUnused(ctx context.Context, token string, service *guidon.Service, logger *slog.Logger) error {
	_, err := service.Authenticate(ctx, token)
	if !errors.Is(err, guidon.Unauthenticated) {
		return err
	}
	logger.Warn("the configured bootstrap token is not valid: it is used only for a database that never had a token",
		"key", "authentication.methods.token.bootstrap.token")
	return nil
}

// warnLockedOut logs a warning if there is no valid token for all namespaces.
func warnLockedOut(ctx context.Context, service *guidon.Service, logger *slog.Logger) error {
	usable, err := service.HasUnlimitedToken(ctx)
	if err != nil || usable {
		return err
	}
	logger.Warn(`no valid token without a namespace limit exists; create one directly in the database with "guidon token create"`)
	return nil
}
