// Package audit sends change records to the sinks of the configuration: a file or the standard output, and a URL. The
// sink that produces to Kafka is in a package of its own, which only servers link.
package audit

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/webhook"
	"github.com/guidonhq/guidon/service"
)

// Sender is what a [Sink] sends by.
type Sender interface {
	Encode(b *deliver.Batch) ([]byte, error)
	// Send makes one attempt, as [webhook.Sender.Send] does.
	Send(ctx context.Context, p *deliver.Parcel) (problem string, asked time.Duration, err error)
}

// Sink is a [deliver.Target] that gets everything that its filter selects, and is never given up.
type Sink struct {
	Sender
	name   string
	filter Filter
	store  service.ChangeReaders
	logger *slog.Logger

	mu       sync.Mutex
	failures map[string]failure // by namespace
}

// failure says that a namespace waits.
type failure struct {
	attempts int
	until    time.Time
}

// NewSink returns a sink with the name, such as "log".
func NewSink(name string, sender Sender, filter Filter, store service.ChangeReaders, logger *slog.Logger) *Sink {
	return &Sink{Sender: sender, name: name, filter: filter, store: store, logger: logger, failures: map[string]failure{}}
}

// Reader implements [deliver.Target].
func (s *Sink) Reader() string { return Reader(s.name) }

// Version implements [deliver.Target].
func (s *Sink) Version() string { return "" }

// Reader returns the name of the reader of the sink with the name.
func Reader(sink string) string { return "audit." + sink }

// Covers implements [deliver.Target].
func (s *Sink) Covers(string) bool { return true }

// Selects implements [deliver.Target].
func (s *Sink) Selects(c *change.Record) bool { return s.filter.Selects(c) }

// Waiting implements [deliver.Target].
func (s *Sink) Waiting(context.Context) (map[string]time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := map[string]time.Time{}
	for namespace, f := range s.failures {
		waiting[namespace] = f.until
	}
	return waiting, nil
}

// Deliver implements [deliver.Target].
func (s *Sink) Deliver(ctx context.Context, p *deliver.Parcel) (again time.Time, err error) {
	problem, asked, err := s.Send(ctx, p)
	if err != nil {
		return again, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if problem == "" {
		delete(s.failures, p.Namespace)
		return again, s.store.AdvanceReader(ctx, s.Reader(), p.From, p.Past)
	}
	f := s.failures[p.Namespace]
	f.attempts++
	f.until = time.Now().Add(deliver.Retry(f.attempts, asked))
	s.failures[p.Namespace] = f
	s.logger.Warn("audit sink is behind", "sink", s.name, "namespace", p.Namespace, "revision", p.Revision,
		"attempts", f.attempts, "error", problem, "next_attempt_in", time.Until(f.until).Round(time.Second).String())
	return f.until, nil
}

// LineEncoder encodes a line of JSON for each record, in the schema of webhooks.
type LineEncoder struct{ webhook.Encoder }

// Encode implements [Sender].
func (e LineEncoder) Encode(b *deliver.Batch) ([]byte, error) {
	var lines bytes.Buffer
	for i := range b.Records {
		line, err := e.Encoder.Encode(&deliver.Batch{Namespace: b.Namespace, Records: b.Records[i : i+1], Abridged: b.Abridged})
		if err != nil {
			return nil, err
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	return lines.Bytes(), nil
}

// Lines is the [Sender] of the sink log.
type Lines struct {
	LineEncoder
	Out io.Writer
}

// Send implements [Sender].
func (l *Lines) Send(_ context.Context, p *deliver.Parcel) (problem string, asked time.Duration, err error) {
	if _, err := l.Out.Write(p.Body); err != nil {
		return err.Error(), 0, nil
	}
	return "", 0, nil
}
