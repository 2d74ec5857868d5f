package config

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/deliver/audit"
)

// Audit configures where change records are sent.
type Audit struct {
	Events []string   `key:"events" default:"*:*"`
	Sinks  AuditSinks `key:"sinks"`
}

// AuditSinks configures the sinks.
type AuditSinks struct {
	Log     AuditLog     `key:"log"`
	Webhook AuditWebhook `key:"webhook"`
}

// AuditLog configures the sink that writes lines.
type AuditLog struct {
	Enabled  bool   `key:"enabled" default:"false"`
	File     string `key:"file"`
	MaxSize  int    `key:"max_size" default:"100" min:"1" max:"100000"`
	MaxFiles int    `key:"max_files" default:"5" min:"1" max:"10000"`
}

// AuditWebhook configures the sink that sends to a URL.
type AuditWebhook struct {
	Enabled       bool              `key:"enabled" default:"false"`
	URL           string            `key:"url" secret:"true"`
	SigningSecret string            `key:"signing_secret" secret:"true"`
	Headers       map[string]string `key:"headers" secret:"true"`
	Format        string            `key:"format" default:"guidon" options:"guidon cloudevents slack discord teams"`
}

// Enabled reports whether there is a sink.
func (a Audit) Enabled() bool { return a.Sinks.Log.Enabled || a.Sinks.Webhook.Enabled }

func (a Audit) check(found *problems) {
	if _, _, err := audit.ParseFilter(a.Events); err != nil {
		found.key("audit.events", err.Error())
	}
	if !a.Sinks.Webhook.Enabled {
		return
	}
	if u, valid := webURL(a.Sinks.Webhook.URL); !valid || u.User != nil {
		found.key("audit.sinks.webhook.url", "must be a URL such as https://receiver.example/audit, without a user name")
	}
}

func (c *Config) warnAudit(found *warnings) {
	if _, ofParts, _ := audit.ParseFilter(c.Audit.Events); len(ofParts) > 0 {
		found.key("audit.events", fmt.Sprintf("%s: parts of flags and segments have no events of their own; updates of these are sent",
			strings.Join(ofParts, ", ")))
	}
	if c.DB.Shared() && c.Audit.Sinks.Log.Enabled && c.Audit.Sinks.Log.File != "" {
		found.key("audit.sinks.log.file", "of several instances the one that delivers writes to its own file; the standard output is better")
	}
}
