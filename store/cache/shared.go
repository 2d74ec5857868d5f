package cache

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// SharedSource is the store behind a [Shared] cache.
type SharedSource interface {
	Source
	// Heads returns the current revisions of the namespaces that exist among the
	// keys, of which there may be thousands, and any text. [guidon.AuthenticationsKey]
	// stands for the authentications.
	Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error)
	// LoadAuthentications returns all authentications, or held, which may be nil,
	// when that is current.
	LoadAuthentications(ctx context.Context, held *guidon.AuthenticationSet) (*guidon.AuthenticationSet, error)
}

// Freshness says what a [Shared] cache may answer. The zero value is strict: it
// asks the source before every answer.
type Freshness struct {
	// MaxAge is how long an answer of the source is good for: nothing is answered
	// that was already out of date so long before the request.
	MaxAge time.Duration
	// MaxStale is how old an answer may be while the source does not answer, for
	// calls that accept that ([guidon.Call.MayBeStale]). Zero is never.
	MaxStale time.Duration
	// ColdWrites lets a write to what is not in memory go ahead without loading that
	// first. What it wrote is then not known while the source does not answer, as
	// nothing is that was never asked for. It is for processes that do not live long,
	// of which many write once.
	ColdWrites bool
}

// Shared is a [guidon.Store] that keeps the snapshots and the authentications of
// a source that others write to as well. It asks the source which revisions are
// current, as often as [Freshness] demands, and loads only what is not.
//
// The question is shared: one is under way at a time, and serves all who came
// before it began; those who come meanwhile share the next, unless MaxAge lets
// them share that one, too. So the load on the source is bounded whatever the
// traffic, and each answer is as fresh as if it had been asked for alone. What is
// in memory is bounded by what is stored.
//
// What was written through it is seen by whoever asks after that, and no caller
// sees the revision of a namespace go back, unless a backup was restored: with
// that, too, the next question shows what is current. A write leaves the state that
// it made in memory, so that it is known even if the source never answers again;
// [Freshness.ColdWrites] is the exception.
//
// A question that fails is the error of those who wait for it, or, where
// MaxStale and the call allow, they are answered from memory. While the source
// is known not to answer nobody waits for more than a moment, and it is asked
// again all the time.
type Shared struct {
	source    SharedSource
	freshness Freshness
	stats     stats
	revisions *revisions
}

var _ guidon.Store = (*Shared)(nil)

// NewShared returns an empty cache over the source. It starts nothing.
func NewShared(source SharedSource, freshness Freshness) *Shared {
	s := &Shared{source: source, freshness: freshness}
	s.revisions = newRevisions(source, freshness.MaxAge, &s.stats)
	return s
}

// Stats returns the counts so far.
func (s *Shared) Stats() Stats { return s.stats.counts() }

// Outage returns for how long the source has not answered, as far as was asked,
// and zero while it does.
func (s *Shared) Outage() time.Duration { return s.revisions.outage() }

// Snapshot implements [guidon.Store].
func (s *Shared) Snapshot(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	if namespace == guidon.AuthenticationsKey {
		return nil, namespaceNotFound(namespace)
	}
	snapshot, err := current(ctx, s, namespace, func() *tracked[guidon.Snapshot] { return s.revisions.snapshot(namespace) })
	if err == nil && snapshot.Namespace() == nil {
		return nil, namespaceNotFound(namespace)
	}
	return snapshot, err
}

// Authentications implements [guidon.Store].
func (s *Shared) Authentications(ctx context.Context) (*guidon.AuthenticationSet, error) {
	return current(ctx, s, guidon.AuthenticationsKey, func() *tracked[guidon.AuthenticationSet] { return &s.revisions.authentications })
}

// current returns the value of the key that the call demands. place finds it in memory, or nil.
func current[T any](ctx context.Context, s *Shared, key string, lookup func() *tracked[T]) (*T, error) {
	call := guidon.CallFrom(ctx)
	d := s.requirementOf(call)
	if t := lookup(); t != nil {
		t.touch(d.begun)
		if value := t.recent(d.after); value != nil {
			s.stats.hit()
			return value, nil
		}
	}
	value, err := revalidate(ctx, s, call, d, key, lookup)
	if errors.Is(err, errOlder) {
		// After a restored backup, the second time both are of one history.
		d.after = s.revisions.now()
		value, err = revalidate(ctx, s, call, d, key, lookup)
	}
	if errors.Is(err, errOlder) {
		err = &guidon.Error{Code: guidon.Unavailable, Message: "the database answers with an old state; try again later", Err: err}
	}
	if err != nil && d.mayBeStale && guidon.CodeOf(err) == guidon.Unavailable {
		if t := lookup(); t != nil {
			if old, age := t.stale(s.revisions.now(), s.freshness.MaxStale); old != nil {
				s.recordStale(call, age)
				return old, nil
			}
		}
	}
	return value, err
}

// revalidate returns the value of the key by a question, unless one that satisfies
// the demand has been answered already.
func revalidate[T any](ctx context.Context, s *Shared, call *guidon.Call, d requirement, key string, lookup func() *tracked[T]) (*T, error) {
	t := lookup()
	if t == nil || !t.confirmedAfter(d.after) {
		d.key = key
		if err := s.revisions.query(ctx, d, queryKeys(call, key)...); err != nil {
			return nil, err
		}
		if t = lookup(); t == nil {
			return nil, namespaceNotFound(key)
		}
	}
	return t.fresh(ctx)
}

// queryKeys returns what to ask for: with the authentications the namespace
// that the call is about, which comes next. So they are one question.
func queryKeys(call *guidon.Call, key string) []string {
	if key == guidon.AuthenticationsKey && call.About != "" && call.About != key {
		return []string{key, call.About}
	}
	return []string{key}
}

// requirement is what a caller wants of an answer.
type requirement struct {
	key        string // which is wanted, of those asked for together; empty is all
	begun      int64  // when the request did
	after      int64  // the answer must be from a question that began later
	mayBeStale bool
}

func (s *Shared) requirementOf(call *guidon.Call) requirement {
	d := requirement{begun: s.revisions.at(call.Begun)}
	d.after = d.begun
	if !call.Fresh {
		d.after -= int64(s.freshness.MaxAge)
		d.mayBeStale = call.MayBeStale && s.freshness.MaxStale > 0
	}
	return d
}

// recordStale tells the caller how old an answer is, and counts it once for each.
func (s *Shared) recordStale(call *guidon.Call, age time.Duration) {
	if call.Stale == 0 {
		s.stats.stale.Add(1)
	}
	call.Stale = max(call.Stale, age)
}

// Namespaces implements [guidon.Store]. The list is not cached.
func (s *Shared) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	return s.source.Namespaces(ctx)
}

// Changes implements [guidon.Store]. The records are not cached.
func (s *Shared) Changes(ctx context.Context, query guidon.ChangeQuery) ([]*guidon.Change, error) {
	return s.source.Changes(ctx, query)
}

// Update implements [guidon.Store]. What it wrote is in memory when it returns.
func (s *Shared) Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx guidon.Tx) error) error {
	m := s.revisions.snapshotMirror(namespace)
	return s.revisions.writing(namespace, func() outcome {
		if err := s.prepare(ctx, m.last() != nil, func(ctx context.Context) error {
			_, err := s.Snapshot(ctx, namespace)
			return err
		}); err != nil {
			return outcome{err: err}
		}
		err := s.source.UpdateMirrored(ctx, namespace, m, fn)
		return outcome{changes: true, kept: m.kept, err: err}
	})
}

// UpdateAuthentications implements [guidon.Store].
func (s *Shared) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	m := s.revisions.authenticationMirror()
	return s.revisions.writing(guidon.AuthenticationsKey, func() outcome {
		if err := s.prepare(ctx, m.last() != nil, func(ctx context.Context) error {
			_, err := s.Authentications(ctx)
			return err
		}); err != nil {
			return outcome{err: err}
		}
		changes := false
		err := s.source.UpdateAuthenticationsMirrored(ctx, m, func(ctx context.Context, tx guidon.AuthenticationTx) error {
			return fn(ctx, &changingTx{AuthenticationTx: tx, changes: &changes})
		})
		return outcome{changes: changes, kept: m.kept, err: err}
	})
}

// prepare sees to it, before a write, that there is something in memory which the
// write can bring up to date: after it the source may be gone. The error is that of a
// source which does not answer; the write finds out about all others by itself.
func (s *Shared) prepare(ctx context.Context, held bool, read func(ctx context.Context) error) error {
	if held || s.freshness.MaxStale == 0 || s.freshness.ColdWrites {
		return nil
	}
	err := read(guidon.WithCall(ctx, &guidon.Call{}))
	if guidon.CodeOf(err) == guidon.Unavailable {
		return err
	}
	return nil
}

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}
