package instance

import (
	"context"
	"io"
	"log/slog"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/audit"
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

// AuditSenders returns the senders of the configured audit sinks by the names of these, except for Kafka. Lines are
// written to out unless there is a file.
func AuditSenders(c *config.Config, version string, out io.Writer) map[string]audit.Sender {
	senders := map[string]audit.Sender{}
	if l := c.Audit.Sinks.Log; l.Enabled {
		if l.File != "" {
			out = &lumberjack.Logger{Filename: l.File, MaxSize: l.MaxSize, MaxBackups: l.MaxFiles}
		}
		encoder := webhook.Encoder{Format: service.FormatGuidon, PublicURL: c.Server.PublicURL}
		senders["log"] = &audit.Lines{LineEncoder: audit.LineEncoder{Encoder: encoder}, Out: out}
	}
	if w := c.Audit.Sinks.Webhook; w.Enabled {
		sender := &webhook.Sender{
			Encoder: webhook.Encoder{Format: service.WebhookFormat(w.Format), PublicURL: c.Server.PublicURL},
			Client: webhook.NewClient(webhook.ClientConfig{
				Version: version, Anywhere: true, Proxy: c.Webhooks.Proxy(), Flipt: c.Webhooks.FliptSignature,
			}),
			Name: "audit.webhook", URL: w.URL, Headers: w.Headers,
		}
		if w.SigningSecret != "" {
			sender.Secrets = []string{w.SigningSecret}
		}
		senders["webhook"] = sender
	}
	return senders
}

// RegisterSinks makes the audit sinks with the names get what happens from now on.
func RegisterSinks(ctx context.Context, db *store.DB, senders map[string]audit.Sender, logger *slog.Logger) {
	for name := range senders {
		if err := db.RegisterReader(ctx, audit.Reader(name)); err != nil { // the first delivery tries again
			logger.Warn("audit sink misses what happens until its reader is registered", "sink", name, "error", err)
		}
	}
}

// Audit adds what delivers to the audit sinks with the names and senders.
func (d *Deliveries) Audit(c *config.Config, db *store.DB, senders map[string]audit.Sender, logger *slog.Logger) {
	filter, _, _ := audit.ParseFilter(c.Audit.Events) // it has been checked
	var sinks []deliver.Target
	for name, sender := range senders {
		sinks = append(sinks, audit.NewSink(name, sender, filter, db, logger))
	}
	if len(sinks) > 0 {
		all := func(context.Context) ([]deliver.Target, error) { return sinks, nil }
		d.Runners = append(d.Runners, deliver.NewRunner("audit", db, all, logger))
	}
}
