// Package rediscache lets instances of the service share, in Redis, what they
// would otherwise ask the database for: which revisions are current, and the
// snapshots. docs/architecture.md explains why none of it is ever out of date.
package rediscache

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/cache"
)

const (
	// lease is how long Redis answers with a revision that was asked of the
	// database once: from before the question on, by the clock of Redis. It bounds
	// for how long a write waits when it cannot tell Redis.
	lease = time.Second
	// margin is what clocks that run at different rates may make of the lease.
	margin = 50 * time.Millisecond
	// quarantine is how long a Redis that has lost its state is told nothing. A
	// write under way has announced itself anew before it is over.
	quarantine = 3 * time.Second
	// renewInterval is how often a write that takes long does that.
	renewInterval = time.Second
	// announcementTTL is for how long one is waited for that does not end.
	announcementTTL = 10 * time.Second

	// stateTTL is how long the state of a namespace is kept that nobody uses, and
	// newStateLife when it is not known yet that there is such a namespace.
	stateTTL    = time.Hour
	newStateTTL = time.Minute
	snapshotTTL = 24 * time.Hour
	claimTTL    = 10 * time.Second
)

// maxKeys bounds the keys of one question to Redis, where each is a script.
// More are cheaper to ask of the database, which answers all of them at once.
const maxKeys = 64

// Options are what [New] may be told. The zero value is right.
type Options struct {
	Prefix  string        // of all keys and of the channel; "guidon" when empty
	Timeout time.Duration // for each round trip; 100 ms when zero
	// OnlyWrites is for one who writes now and then, perhaps to a database other
	// than that of the instances: Redis is told of the writes, and asked nothing.
	OnlyWrites bool
}

// Source is a [cache.SharedSource] in front of another, the database. Its methods
// may be called concurrently.
//
// All who read or write the database together use the same Redis and prefix. A
// revision that Heads returns was then current at some moment after the call
// began, and a write that is acknowledged is seen by every question that begins
// after that, whatever becomes of Redis: it may be slow or away, be killed,
// frozen, full or emptied, fall back to what it had on disk, or be replaced by its
// replica. There are three exceptions: two servers that are both taken for the
// master, for a second at most; a writer that does not tell Redis; and a clock of
// Redis that is set back while a writer cannot reach it, for as long as the clock
// was set back.
//
// While Redis does not answer, the database is asked, and a write takes up to
// two seconds longer.
type Source struct {
	cache.SharedSource
	client  redis.UniversalClient
	prefix  string
	timeout time.Duration

	clustered atomic.Bool // not all keys are in one place
	foundAll  atomic.Bool // the last question found all that it asked for
	writeOnly bool        // Redis is neither asked nor told revisions and snapshots

	health     health
	stats      stats
	latest     latest
	background sync.WaitGroup
}

var _ cache.SharedSource = (*Source)(nil)

// New returns the source in front of the database. It starts nothing and does not
// connect. The client should not repeat commands by itself.
func New(database cache.SharedSource, client redis.UniversalClient, options Options) *Source {
	s := &Source{
		SharedSource: database, client: client,
		prefix: cmp.Or(options.Prefix, "guidon"), timeout: cmp.Or(options.Timeout, 100*time.Millisecond),
		writeOnly: options.OnlyWrites,
	}
	_, clustered := client.(*redis.ClusterClient)
	s.clustered.Store(clustered)
	return s
}

// Close closes the client, not the database. It may be called when no other
// method runs or will be called.
func (s *Source) Close() error {
	s.health.end()
	s.background.Wait()
	return s.client.Close()
}

// Heads implements [cache.SharedSource].
func (s *Source) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	found := s.lookup(ctx, keys)
	if len(found.unknown) > 0 {
		stored, err := s.SharedSource.Heads(ctx, found.unknown)
		if err != nil {
			return nil, err
		}
		s.fill(ctx, found, stored)
		maps.Copy(found.heads, stored)
	}
	s.latest.record(keys, found.heads)
	return found.heads, nil
}

// Load implements [cache.Source]. Redis is asked where nothing is held: what
// has changed since is less than the whole, and the database knows it.
func (s *Source) Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	current, known := s.latest.of(namespace)
	if held != nil || !known || !s.available(ctx) {
		return s.SharedSource.Load(ctx, namespace, held)
	}
	snapshot, wanted := s.getSnapshot(ctx, namespace, current)
	if snapshot != nil {
		return snapshot, nil
	}
	snapshot, err := s.SharedSource.Load(ctx, namespace, nil)
	if err == nil && wanted && snapshot.Revision() == current {
		s.putSnapshot(ctx, snapshot)
	}
	return snapshot, err
}

// Update implements [guidon.Store].
func (s *Source) Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx guidon.Tx) error) error {
	return s.UpdateMirrored(ctx, namespace, nil, fn)
}

// UpdateMirrored implements [cache.Source].
func (s *Source) UpdateMirrored(ctx context.Context, namespace string, mirror guidon.Mirror[guidon.SnapshotDelta], fn func(ctx context.Context, tx guidon.Tx) error) error {
	return s.writing(ctx, namespace, func() error { return s.SharedSource.UpdateMirrored(ctx, namespace, mirror, fn) })
}

// UpdateAuthentications implements [guidon.Store].
func (s *Source) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	return s.UpdateAuthenticationsMirrored(ctx, nil, fn)
}

// UpdateAuthenticationsMirrored implements [cache.Source].
func (s *Source) UpdateAuthenticationsMirrored(ctx context.Context, mirror guidon.Mirror[guidon.AuthenticationDelta], fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	return s.writing(ctx, guidon.AuthenticationsKey, func() error { return s.SharedSource.UpdateAuthenticationsMirrored(ctx, mirror, fn) })
}

func (s *Source) stateKey(key string) string    { return s.prefix + ":revision:" + key }
func (s *Source) snapshotKey(key string) string { return s.prefix + ":snapshot:" + key }
func (s *Source) channel() string               { return s.prefix + ":changes" }
