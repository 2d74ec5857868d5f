// Package rediscache lets instances of the service share through Redis the state that each
// of them would otherwise read from the database: the current revisions, and the snapshots.
// docs/architecture.md explains why none of it is ever out of date.
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
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

const (
	// lease is how long Redis returns a revision that was read from the database,
	// counted by the clock of Redis from before that read. It limits how long a write
	// waits if it cannot reach Redis.
	lease = time.Second
	// margin is added to the lease for clocks that run at different rates.
	margin = 50 * time.Millisecond
	// quarantine is how long no revision is stored in a Redis that has lost its state.
	// Before it ends, every running write has announced itself again.
	quarantine = 3 * time.Second
	// renewInterval is how often a long write announces itself again.
	renewInterval = time.Second
	// announcementTTL is how long an announced write that never concludes counts as in
	// progress.
	announcementTTL = 10 * time.Second

	// stateTTL is how long the unused state of a namespace is kept, and newStateTTL the
	// same while it is not known whether the namespace exists.
	stateTTL    = time.Hour
	newStateTTL = time.Minute
	snapshotTTL = 24 * time.Hour
	claimTTL    = 10 * time.Second
)

// maxKeys limits the keys of one lookup in Redis, which handles them one by one. More
// keys are cheaper to read from the database, which returns all of them together.
const maxKeys = 64

// Options configures [New]. The zero value of every field is a usable default.
type Options struct {
	Prefix  string        // of all keys and of the channel; default "guidon"
	Timeout time.Duration // of each round trip; default 100 ms
	// OnlyWrites is for occasional writers, whose database need not be that of the
	// instances: writes are announced to Redis, but nothing is read from it.
	OnlyWrites bool
	// Trace is like that of package store: it is called with "redis", and its result with the
	// name of the first command.
	Trace func(ctx context.Context, system string) func(command string, err error)
}

// Source is a [cache.SharedSource] in front of another one, the database. It is safe
// for concurrent use.
//
// All readers and writers of the database must use the same Redis and prefix. A
// revision that Heads returns was current at some moment after the call began. Every
// later query sees a write that has been acknowledged, whatever happens to Redis: it
// may be slow, unreachable, killed, frozen, full or emptied, fall back to what it had
// on disk, or be replaced by its replica. There are three exceptions:
//   - Two servers both act as the primary: a revision may be out of date, for a second
//     at most.
//   - A writer does not announce its writes to Redis.
//   - The clock of Redis is set back while a writer cannot reach it: a revision may be
//     out of date for as long as the clock was set back.
//
// While Redis does not respond, the database is queried, and a write takes up to two
// seconds longer.
type Source struct {
	cache.SharedSource
	client  redis.UniversalClient
	prefix  string
	timeout time.Duration
	trace   func(ctx context.Context, system string) func(command string, err error) // or nil

	clustered atomic.Bool // keys are in different slots of a cluster
	foundAll  atomic.Bool // the last lookup found all its keys
	writeOnly bool        // revisions and snapshots are neither read from Redis nor stored in it

	health     health
	stats      stats
	latest     latest
	background sync.WaitGroup
}

var _ cache.SharedSource = (*Source)(nil)

// New returns a source in front of the database. It starts no goroutines and does not
// connect. The client should not retry commands by itself.
func New(database cache.SharedSource, client redis.UniversalClient, options Options) *Source {
	s := &Source{
		SharedSource: database, client: client,
		prefix: cmp.Or(options.Prefix, "guidon"), timeout: cmp.Or(options.Timeout, 100*time.Millisecond),
		writeOnly: options.OnlyWrites, trace: options.Trace,
	}
	_, clustered := client.(*redis.ClusterClient)
	s.clustered.Store(clustered)
	return s
}

// Close closes the client, but not the database. No other method may be running, or be
// called afterwards.
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

// Load implements [cache.Source]. It uses Redis only if nothing is held: otherwise the
// changes since held are less than the whole, and the database knows them.
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

// Update implements [service.Store].
func (s *Source) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	return s.UpdateMirrored(ctx, namespace, w, nil, fn)
}

// UpdateMirrored implements [cache.Source].
func (s *Source) UpdateMirrored(ctx context.Context, namespace string, w service.Write, mirror service.Mirror[guidon.SnapshotDelta], fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	var revision int64
	err := s.writing(ctx, namespace, func() error {
		var err error
		revision, err = s.SharedSource.UpdateMirrored(ctx, namespace, w, mirror, fn)
		return err
	})
	return revision, err
}

// UpdateAuthentications implements [service.Store].
func (s *Source) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	return s.UpdateAuthenticationsMirrored(ctx, w, nil, fn)
}

// UpdateAuthenticationsMirrored implements [cache.Source].
func (s *Source) UpdateAuthenticationsMirrored(ctx context.Context, w service.Write, mirror service.Mirror[service.AuthenticationDelta], fn func(ctx context.Context, tx service.AuthenticationTx) error) error {
	return s.writing(ctx, service.AuthenticationsKey, func() error { return s.SharedSource.UpdateAuthenticationsMirrored(ctx, w, mirror, fn) })
}

func (s *Source) stateKey(key string) string    { return s.prefix + ":revision:" + key }
func (s *Source) snapshotKey(key string) string { return s.prefix + ":snapshot:" + key }
func (s *Source) channel() string               { return s.prefix + ":changes" }

// Stats counts the use of Redis by a [Source] since it was created.
type Stats struct {
	Revisions Lookups
	Snapshots Lookups
	Errors    uint64 // failed round trips and probes
}

// Lookups counts the values found in Redis, and those read from the database instead.
type Lookups struct {
	Hits   uint64
	Misses uint64
}

// Stats returns the counts so far.
func (s *Source) Stats() Stats {
	return Stats{Revisions: s.stats.revisions.counts(), Snapshots: s.stats.snapshots.counts(), Errors: s.stats.errors.Load()}
}

// Err returns why Redis is not queried at present, or nil while it is. The text
// contains no password.
func (s *Source) Err() error { return s.health.err() }

type stats struct {
	revisions lookups
	snapshots lookups
	errors    atomic.Uint64
}

type lookups struct {
	hits   atomic.Uint64
	misses atomic.Uint64
}

func (l *lookups) counts() Lookups { return Lookups{Hits: l.hits.Load(), Misses: l.misses.Load()} }
