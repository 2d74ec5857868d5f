// Package kafka is the audit sink that produces to a topic of Kafka.
package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/audit"
	"github.com/guidonhq/guidon/deliver/webhook"
	"github.com/guidonhq/guidon/service"
)

// attemptTime limits an attempt. RecordDeliveryTimeout would not do: it begins at the timestamp of the record.
const attemptTime = 10 * time.Second

// pingTime limits the search for the reason of a timeout.
const pingTime = 2 * time.Second

// Config configures a [Producer].
type Config struct {
	Servers            []string // host:port
	Topic              string
	TLS                *tls.Config // nil: without TLS
	Mechanism          string      // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username, Password string      // no SASL if Username is empty
	PublicURL          string      // of this service, or ""
}

// Producer is an [audit.Sender]. It produces a record for each change record: a CloudEvent in JSON whose key is the
// namespace, so that a namespace is in one partition, in its order.
type Producer struct {
	audit.LineEncoder
	client *kgo.Client
}

// NewProducer returns a producer, which connects when it sends.
func NewProducer(c Config) (*Producer, error) {
	options := []kgo.Opt{
		kgo.ClientID("guidon"), kgo.SeedBrokers(c.Servers...), kgo.DefaultProduceTopic(c.Topic), kgo.AllowAutoTopicCreation(),
		// An attempt that is given up is repeated, so its records may be there twice. The alternative is to wait for ever.
		kgo.AllowIdempotentProduceCancellation(),
	}
	if c.TLS != nil {
		options = append(options, kgo.DialTLSConfig(c.TLS))
	}
	if c.Username != "" {
		options = append(options, kgo.SASL(mechanism(c)))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	encoder := webhook.Encoder{Format: service.FormatCloudEvents, PublicURL: c.PublicURL}
	return &Producer{LineEncoder: audit.LineEncoder{Encoder: encoder}, client: client}, nil
}

func mechanism(c Config) sasl.Mechanism {
	auth := scram.Auth{User: c.Username, Pass: c.Password}
	switch c.Mechanism {
	case "SCRAM-SHA-256":
		return auth.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return auth.AsSha512Mechanism()
	}
	return plain.Auth{User: c.Username, Pass: c.Password}.AsMechanism()
}

// Send implements [audit.Sender]. It succeeds when all in-sync replicas have every record.
func (p *Producer) Send(ctx context.Context, parcel *deliver.Parcel) (problem string, asked time.Duration, err error) {
	var records []*kgo.Record
	for line := range bytes.Lines(parcel.Body) {
		records = append(records, &kgo.Record{
			Key: []byte(parcel.Namespace), Value: bytes.TrimSuffix(line, []byte("\n")), Timestamp: parcel.Past.At,
			Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte(p.ContentType())}},
		})
	}
	bounded, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	failed := p.client.ProduceSync(bounded, records...).FirstErr()
	switch {
	case ctx.Err() != nil:
		return "", 0, ctx.Err()
	case errors.Is(failed, context.DeadlineExceeded):
		return p.silence(ctx), 0, nil
	case failed != nil:
		return failed.Error(), 0, nil
	}
	return "", 0, nil
}

// silence says why there was no answer.
func (p *Producer) silence(ctx context.Context) string {
	bounded, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if err := p.client.Ping(bounded); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err.Error()
	}
	return "no answer within " + attemptTime.String()
}

// Close ends the connections. It may be called while Send is, which then fails.
func (p *Producer) Close() { p.client.Close() }
