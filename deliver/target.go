package deliver

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Target is where the records of a reader go.
type Target interface {
	// Reader returns the name of the reader.
	Reader() string
	// Version differs from that of a target with the same reader that delivers in another way.
	Version() string
	// Covers reports whether records of the namespace can be selected.
	Covers(namespace string) bool
	// Selects reports whether the record is delivered.
	Selects(c *change.Record) bool
	// Encode returns the body for the records.
	Encode(b *Batch) ([]byte, error)
	// Waiting returns until when nothing is delivered for namespaces, because deliveries failed.
	Waiting(ctx context.Context) (map[string]time.Time, error)
	// Deliver sends the parcel once. If that succeeds, it moves the reader to the end of the parcel. Otherwise
	// it returns when to try again, or an error if that could not be stored or ctx has ended.
	Deliver(ctx context.Context, p *Parcel) (again time.Time, err error)
}

// Batch is what one delivery is about: selected records of one revision and event.
type Batch struct {
	Namespace string // or service.AuthenticationsKey
	Records   []*change.Record
	Abridged  bool // the records have no objects, because they are too large
}

// First returns the first record.
func (b *Batch) First() *change.Record { return b.Records[0] }

// Parcel is a batch as it is sent.
type Parcel struct {
	Namespace string
	Revision  int64
	Part      int32 // the sequence of the first record
	Event     service.Event
	Body      []byte
	From      guidon.Position // where the reader is
	Past      *change.Record  // to which it goes, without objects
}

// Limits of a batch.
const (
	maxRecords = 100
	maxBody    = 960 << 10         // brokers of Kafka refuse messages above 1,000,000 bytes, unless they are configured
	maxObjects = maxBody - 192<<10 // of the objects; the rest is for summaries, messages and names
)

// cut returns the batch that the records begin with, and the last record that it takes or passes over. Nothing
// is selected if the batch has no records.
func cut(t Target, namespace string, records []*change.Record) (b *Batch, past *change.Record) {
	b = &Batch{Namespace: namespace}
	size := 0
	for _, r := range records {
		if len(b.Records) > 0 && r.Revision != b.First().Revision {
			return b, past
		}
		if t.Selects(r) {
			bytes := len(r.Before) + len(r.After)
			if len(b.Records) > 0 && (size+bytes > maxObjects || service.EventOf(r) != service.EventOf(b.First())) {
				return b, past
			}
			b.Records = append(b.Records, r)
			size += bytes
		}
		past = r
	}
	if size > maxObjects {
		b.abridge()
	}
	return b, past
}

// abridge removes the objects of the only record.
func (b *Batch) abridge() {
	r := *b.First()
	r.Before, r.After = nil, nil
	b.Records, b.Abridged = []*change.Record{&r}, true
}

// Bounds of the time between attempts.
const (
	firstRetry    = 5 * time.Second
	longestRetry  = time.Hour
	longestAsked  = 6 * time.Hour
	shortestAsked = time.Second
)

// Retry returns how long to wait after the given number of failed attempts: twice as long each time, half of it at
// random, or as long as the receiver has asked for.
func Retry(attempts int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(max(asked, shortestAsked), longestAsked)
	}
	whole := min(firstRetry<<min(attempts-1, 20), longestRetry)
	return whole/2 + rand.N(whole/2+1) // #nosec G404 -- jitter, not a secret
}
