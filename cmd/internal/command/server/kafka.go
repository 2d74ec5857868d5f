package server

import (
	"crypto/tls"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/deliver/audit/kafka"
)

// openKafka returns the sender of the audit sink kafka.
func openKafka(c config.AuditKafka, publicURL string) (*kafka.Producer, error) {
	p := kafka.Config{
		Servers: c.BootstrapServers, Topic: c.Topic, PublicURL: publicURL,
		Mechanism: c.Authentication.Mechanism, Username: c.Authentication.Username, Password: c.Authentication.Password,
	}
	if c.TLS() {
		config, err := client.Options{CAFile: c.CAPath}.TLS()
		if err != nil {
			return nil, err
		}
		if p.TLS = config; config == nil {
			p.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	return kafka.NewProducer(p)
}
