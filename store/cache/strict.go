package cache

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
)

// StrictSource is the store behind a [Strict] cache.
type StrictSource interface {
	Source
	// Heads returns the current revisions of the namespaces that exist among the
	// keys, of which there may be thousands, and any text. [AuthenticationsKey]
	// stands for the authentications.
	Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error)
	// LoadAuthentications returns all authentications, or held, which may be nil,
	// when that is current.
	LoadAuthentications(ctx context.Context, held *guidon.AuthenticationSet) (*guidon.AuthenticationSet, error)
}

// AuthenticationsKey is what [StrictSource] calls the authentications among the
// namespaces. No namespace can have this key.
const AuthenticationsKey = "(authentications)"

// Strict is a [guidon.Store] that keeps the snapshots and the authentications of
// a source that others write to as well. It asks the source before every answer
// whether what it holds is current, and loads only what is not.
//
// The question is shared: one is under way at a time, and serves all who came
// before it began; those who come meanwhile share the next. So the load on the
// source is bounded whatever the traffic, and each answer is as fresh as if it
// had been asked for alone. A question that fails is the error of those who wait
// for it, and is not remembered; nothing old is served in its place. What is in
// memory is bounded by what is stored.
type Strict struct {
	source    StrictSource
	stats     stats
	revisions *revisions
}

var _ guidon.Store = (*Strict)(nil)

// NewStrict returns an empty cache over the source.
func NewStrict(source StrictSource) *Strict {
	s := &Strict{source: source}
	s.revisions = newRevisions(source, &s.stats)
	return s
}

// Stats returns the counts so far.
func (s *Strict) Stats() Stats { return s.stats.counts() }

// Snapshot implements [guidon.Store].
func (s *Strict) Snapshot(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	if namespace == AuthenticationsKey {
		return nil, namespaceNotFound(namespace)
	}
	return tryTwice(func() (*guidon.Snapshot, error) {
		b, err := s.revisions.ask(ctx, namespace)
		if err != nil {
			return nil, err
		}
		held := b.found[namespace]
		if held == nil {
			return nil, namespaceNotFound(namespace)
		}
		return held.fresh(ctx)
	})
}

// Authentications implements [guidon.Store].
func (s *Strict) Authentications(ctx context.Context) (*guidon.AuthenticationSet, error) {
	return tryTwice(func() (*guidon.AuthenticationSet, error) {
		if _, err := s.revisions.ask(ctx, AuthenticationsKey); err != nil {
			return nil, err
		}
		return s.revisions.authentications.fresh(ctx)
	})
}

// Namespaces implements [guidon.Store]. The list is not cached.
func (s *Strict) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	return s.source.Namespaces(ctx)
}

// Changes implements [guidon.Store]. The records are not cached.
func (s *Strict) Changes(ctx context.Context, query guidon.ChangeQuery) ([]*guidon.Change, error) {
	return s.source.Changes(ctx, query)
}

// Update implements [guidon.Store]. The next question finds out what it changed.
func (s *Strict) Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx guidon.Tx) error) error {
	return s.source.Update(ctx, namespace, fn)
}

// UpdateAuthentications implements [guidon.Store].
func (s *Strict) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	return s.source.UpdateAuthentications(ctx, fn)
}

// tryTwice runs read again, revision included, when the state that the source
// had stated was no longer to be had: after a restored backup, the second time
// both are of one history.
func tryTwice[T any](read func() (*T, error)) (*T, error) {
	value, err := read()
	if errors.Is(err, errOlder) {
		value, err = read()
	}
	if errors.Is(err, errOlder) {
		return nil, &guidon.Error{Code: guidon.Unavailable, Message: "the database answers with an old state; try again later", Err: err}
	}
	return value, err
}

func namespaceNotFound(key string) error {
	return guidon.Errorf(guidon.NotFound, "namespace %q not found", key)
}
