package config

import (
	"fmt"
	"net"
	"regexp"
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
	Kafka   AuditKafka   `key:"kafka"`
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

// AuditKafka configures the sink that produces to a topic of Kafka.
type AuditKafka struct {
	Enabled          bool                `key:"enabled" default:"false"`
	Topic            string              `key:"topic"`
	BootstrapServers []string            `key:"bootstrap_servers"`
	RequireTLS       bool                `key:"require_tls" default:"false"`
	CAPath           string              `key:"ca_path"`
	Authentication   KafkaAuthentication `key:"authentication"`
}

// KafkaAuthentication configures how the brokers authenticate the service.
type KafkaAuthentication struct {
	Mechanism string `key:"mechanism" default:"SCRAM-SHA-256" options:"PLAIN SCRAM-SHA-256 SCRAM-SHA-512"`
	Username  string `key:"username"`
	Password  string `key:"password" secret:"true"`
}

// TLS reports whether brokers are connected to with TLS.
func (k AuditKafka) TLS() bool { return k.RequireTLS || k.CAPath != "" }

// Enabled reports whether there is a sink.
func (a Audit) Enabled() bool {
	return a.Sinks.Log.Enabled || a.Sinks.Webhook.Enabled || a.Sinks.Kafka.Enabled
}

func (a Audit) check(found *problems) {
	_, _, err := audit.ParseFilter(a.Events)
	found.check("audit.events", err)
	if u, valid := webURL(a.Sinks.Webhook.URL); a.Sinks.Webhook.Enabled && (!valid || u.User != nil) {
		found.key("audit.sinks.webhook.url", "must be a URL such as https://receiver.example/audit, without a user name")
	}
	if a.Sinks.Kafka.Enabled {
		a.Sinks.Kafka.check(found)
	}
}

// topic matches the names of topics that Kafka accepts, besides their length: it would take the
// expression a hundred KB.
var topic = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

const maxTopic = 249

func (k AuditKafka) check(found *problems) {
	if len(k.Topic) > maxTopic || !topic.MatchString(k.Topic) {
		found.key("audit.sinks.kafka.topic", "must be the name of a topic: up to 249 letters, digits, dots, hyphens and underscores")
	}
	if len(k.BootstrapServers) == 0 {
		found.key("audit.sinks.kafka.bootstrap_servers", "must be addresses such as broker.example:9092")
	}
	for _, address := range k.BootstrapServers {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			found.key("audit.sinks.kafka.bootstrap_servers", fmt.Sprintf("must be addresses such as broker.example:9092, not %q", address))
		}
	}
	if k.CAPath != "" {
		found.check("audit.sinks.kafka.ca_path", checkFile(k.CAPath))
	}
	if auth := k.Authentication; (auth.Username == "") != (auth.Password == "") {
		found.key("audit.sinks.kafka.authentication", "must have both a username and a password, or neither")
	}
}

func (c *Config) warnAudit(found *warnings) {
	if _, ofParts, _ := audit.ParseFilter(c.Audit.Events); len(ofParts) > 0 {
		found.key("audit.events", fmt.Sprintf("%s: parts of flags and segments have no events of their own; updates of these are sent",
			strings.Join(ofParts, ", ")))
	}
	if k := c.Audit.Sinks.Kafka; k.Enabled && k.Authentication.Username != "" && k.Authentication.Mechanism == "PLAIN" && !k.TLS() {
		found.key("audit.sinks.kafka.authentication.mechanism", "PLAIN without TLS: everybody on the network can read the password")
	}
	if c.DB.Shared() && c.Audit.Sinks.Log.Enabled && c.Audit.Sinks.Log.File != "" {
		found.key("audit.sinks.log.file", "of several instances the one that delivers writes to its own file; the standard output is better")
	}
}
