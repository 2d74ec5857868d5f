package cache

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// SharedSource is the store behind a [Shared] cache.
type SharedSource interface {
	Source
	// Heads returns the current revisions of those keys whose namespaces exist. There
	// may be thousands of keys, of any text. [service.AuthenticationsKey] stands for the
	// authentications.
	Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error)
}

// Freshness configures how current the results of a [Shared] cache are. The zero value
// is strict: every request needs a query to the source that began after it.
type Freshness struct {
	// MaxAge is how long the result of a query may be used: no state is returned that
	// was already out of date that long before the request.
	MaxAge time.Duration
	// MaxStale is how old a result may be while the source does not respond, for reads
	// that accept that ([service.Demand.MayBeStale]). Zero means never.
	MaxStale time.Duration
	// ColdWrites lets a write to a state that is not in memory proceed without loading
	// it first. The written state is then unknown while the source does not respond,
	// like any state that was never requested. It is for short-lived processes, many of
	// which write only once.
	ColdWrites bool
}

// Shared is a [service.Store] that caches the snapshots and the authentications of a
// source with other writers. It queries the source for current revisions as often as
// [Freshness] requires, and loads only the changes.
//
// Queries are shared. One runs at a time, and serves all callers that came before it
// began. Callers that come while it runs share the next one, unless MaxAge lets them
// share the running one. So the load on the source is bounded whatever the traffic, and
// each result is as fresh as that of a query of its own. Memory use is bounded by what
// is stored.
//
// Every read sees all earlier writes through the same cache. No caller sees the
// revision of a namespace go backwards, unless a backup was restored; even then, the
// next query returns the current state. A write leaves the resulting state in memory,
// so that it is known even if the source never responds again. [Freshness.ColdWrites]
// is the exception.
//
// If a query fails, its waiters get the error, or a result from memory if MaxStale and
// the call allow that. While the source is known to be unavailable, no caller waits for
// more than a moment, and the source is queried again all the time.
type Shared struct {
	service.ChangeLog // of the source; records are not cached
	source            SharedSource
	freshness         Freshness
	revisions         *revisions
	*watches          // of the revisions
	stats
}

var _ service.Store = (*Shared)(nil)

// NewShared returns an empty cache over the source. It starts no goroutines.
func NewShared(source SharedSource, freshness Freshness) *Shared {
	s := &Shared{ChangeLog: source, source: source, freshness: freshness}
	s.revisions = newRevisions(source, freshness.MaxAge, &s.stats)
	s.watches = &s.revisions.watches
	return s
}

// Outage returns how long the source has not responded, as far as queries have shown,
// or zero while it does.
func (s *Shared) Outage() time.Duration { return s.revisions.outage() }

// Snapshot implements [service.Store].
func (s *Shared) Snapshot(ctx context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if namespace == service.AuthenticationsKey {
		return nil, 0, namespaceNotFound(namespace)
	}
	snapshot, age, err := current(ctx, s, d, namespace, "", func() *tracked[guidon.Snapshot] { return s.revisions.snapshot(namespace) })
	if age > 0 {
		s.stats.stale.Add(1)
	}
	if err == nil && snapshot.Namespace() == nil {
		return nil, age, namespaceNotFound(namespace)
	}
	return snapshot, age, err
}

// SnapshotAt implements [service.Store], as [Cache.SnapshotAt] does.
func (s *Shared) SnapshotAt(
	ctx context.Context, namespace string, at service.Moment, d service.Demand, admit service.Admit,
) (*guidon.Snapshot, error) {
	return loadAt(ctx, s, s.source, namespace, at, d, admit)
}

// Authentications implements [service.Store]. One query serves both the authentications
// and the next namespace.
func (s *Shared) Authentications(ctx context.Context, d service.Demand, next string) (*service.AuthenticationSet, time.Duration, error) {
	return current(ctx, s, d, service.AuthenticationsKey, next,
		func() *tracked[service.AuthenticationSet] { return &s.revisions.authentications })
}

// current returns the value of the key that the demand requires, and its age if it is
// stale. A query also covers the next key, if that is not "". lookup returns the slot of
// the value, or nil.
func current[T any](
	ctx context.Context, s *Shared, demand service.Demand, key, next string, lookup func() *tracked[T],
) (*T, time.Duration, error) {
	d := s.requirementOf(demand)
	if t := lookup(); t != nil {
		t.touch(d.begun)
		if value := t.recent(d.after); value != nil {
			s.stats.hit()
			return value, 0, nil
		}
	}
	value, err := revalidate(ctx, s, d, key, next, lookup)
	if errors.Is(err, errOlder) {
		// After a restored backup, the second query and load see the same history.
		d.after = s.revisions.now()
		value, err = revalidate(ctx, s, d, key, next, lookup)
	}
	if errors.Is(err, errOlder) {
		err = &guidon.Error{Code: guidon.Unavailable, Message: "the database returned an old state; try again later", Err: err}
	}
	if err != nil && d.mayBeStale && guidon.CodeOf(err) == guidon.Unavailable {
		if t := lookup(); t != nil {
			if old, age := t.stale(s.revisions.now(), s.freshness.MaxStale); old != nil {
				return old, age, nil
			}
		}
	}
	return value, 0, err
}

// revalidate returns the value of the key after a query, unless a query that satisfies
// d has already confirmed it.
func revalidate[T any](ctx context.Context, s *Shared, d requirement, key, next string, lookup func() *tracked[T]) (*T, error) {
	t := lookup()
	if t == nil || !t.confirmedAfter(d.after) {
		d.key = key
		keys := []string{key}
		if next != "" && next != key {
			keys = append(keys, next)
		}
		if err := s.revisions.query(ctx, d, keys...); err != nil {
			return nil, err
		}
		if t = lookup(); t == nil {
			return nil, namespaceNotFound(key)
		}
	}
	return t.fresh(ctx)
}

// requirement is how current a result must be.
type requirement struct {
	key        string // the only one of the queried keys that matters; if empty, all do
	begun      int64  // when the request arrived
	after      int64  // the result must be from a query that began later
	mayBeStale bool
}

func (s *Shared) requirementOf(demand service.Demand) requirement {
	d := requirement{begun: s.revisions.at(demand.Begun)}
	d.after = d.begun
	if !demand.Fresh {
		d.after -= int64(s.freshness.MaxAge)
		d.mayBeStale = demand.MayBeStale && s.freshness.MaxStale > 0
	}
	return d
}

// Namespaces implements [service.Store]. The list is not cached.
func (s *Shared) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	return s.source.Namespaces(ctx)
}

// Update implements [service.Store]. When it returns, the resulting state is in memory
// if the source reported it.
func (s *Shared) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (revision int64, err error) {
	if err := s.revisions.checkAvailable(); err != nil {
		return 0, err
	}
	m := s.revisions.snapshotMirror(namespace)
	defer func() {
		if !m.unchanged {
			s.revisions.recordWrite(namespace, m.kept, err == nil)
		}
	}()
	if s.warmsWrites() && m.last() == nil {
		if _, _, err := s.Snapshot(ctx, namespace, service.Demand{}); guidon.CodeOf(err) == guidon.Unavailable {
			return 0, err
		}
	}
	return s.source.UpdateMirrored(ctx, namespace, w, m, fn)
}

// UpdateAuthentications implements [service.Store].
func (s *Shared) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) (err error) {
	if err := s.revisions.checkAvailable(); err != nil {
		return err
	}
	m := s.revisions.authenticationMirror()
	defer func() {
		if !m.unchanged {
			s.revisions.recordWrite(service.AuthenticationsKey, m.kept, err == nil)
		}
	}()
	if s.warmsWrites() && m.last() == nil {
		if _, _, err := s.Authentications(ctx, service.Demand{}, ""); guidon.CodeOf(err) == guidon.Unavailable {
			return err
		}
	}
	return s.source.UpdateAuthenticationsMirrored(ctx, w, m, fn)
}

// warmsWrites reports whether a write loads a state that is not in memory first, so that it
// can bring it up to date: afterwards the source may be unavailable. Only that error ends the
// write, which meets all others itself.
func (s *Shared) warmsWrites() bool { return s.freshness.MaxStale > 0 && !s.freshness.ColdWrites }

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}
