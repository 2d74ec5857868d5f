package instance

import (
	"log/slog"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/webhook"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// Deliveries are what delivers changes outside.
type Deliveries struct {
	Webhooks *webhook.Deliverer
	Runners  []*deliver.Runner // each has a lease of its own
}

// WithWebhooks returns the service that manages webhooks of the database too, and what delivers to them.
func WithWebhooks(
	c *config.Config, svc *service.Service, db *store.DB, version string, logger *slog.Logger,
) (*service.Service, *Deliveries) {
	webhooks := &service.Webhooks{Store: db, AllowHTTP: c.Webhooks.AllowHTTP}
	svc = svc.WithWebhooks(webhooks)
	d := &Deliveries{Webhooks: webhook.NewDeliverer(webhook.Config{
		Service: svc, Store: db, PublicURL: c.Server.PublicURL, Logger: logger,
		Client: webhook.NewClient(webhook.ClientConfig{
			Version: version, Allowed: c.Webhooks.Networks(), Proxy: c.Webhooks.Proxy(), Flipt: c.Webhooks.FliptSignature,
		}),
	})}
	webhooks.Send = d.Webhooks.Test
	if c.Webhooks.Enabled {
		d.Runners = append(d.Runners, deliver.NewRunner("webhooks", db, d.Webhooks.Targets, logger))
	}
	return svc, d
}
