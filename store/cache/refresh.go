package cache

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon/service"
)

// inUse is how long after its last request a key is kept fresh.
const inUse = int64(time.Minute)

// Refresh queries all keys in use if any of them would be out of date before the time
// ahead has passed, and loads the changes, so that requests do not wait. It also
// queries after a failed query, to notice the end of an outage, and after a write whose
// state is not in memory. While there are subscribers it always queries, since they
// would not learn of changes otherwise. Without MaxAge nothing becomes out of date by
// itself.
//
// Refresh is for a loop that calls it again before that time has passed.
func (s *Shared) Refresh(ctx context.Context, ahead time.Duration) error {
	return s.refreshKeys(ctx, s.revisions.dueKeys(ahead))
}

// Renew queries those of the keys that are in use, or all keys in use if none is given,
// and loads the changes. It is for callers that were notified of a change.
func (s *Shared) Renew(ctx context.Context, keys ...string) error {
	var wanted []string
	s.revisions.eachInUse(func(key string, _, _ int64) {
		if len(keys) == 0 || slices.Contains(keys, key) {
			wanted = append(wanted, key)
		}
	})
	return s.refreshKeys(ctx, wanted)
}

// refreshKeys queries the keys and loads the changes.
func (s *Shared) refreshKeys(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	if err := s.revisions.query(ctx, requirement{after: s.revisions.now()}, keys...); err != nil {
		return err
	}
	var failed []error
	for _, key := range keys {
		if key == service.AuthenticationsKey {
			failed = append(failed, s.revisions.authentications.refresh(ctx))
		} else if t := s.revisions.snapshot(key); t != nil {
			failed = append(failed, t.refresh(ctx))
		}
	}
	return errors.Join(failed...)
}

// dueKeys returns the keys in use if there is a reason to query now.
func (r *revisions) dueKeys(ahead time.Duration) []string {
	now := r.now()
	needed := r.watches.any() || r.failing()
	var keys []string
	r.eachInUse(func(key string, confirmed, acknowledged int64) {
		keys = append(keys, key)
		outdated := r.maxAge > 0 && confirmed+int64(r.maxAge) <= now+int64(ahead)
		unseen := acknowledged > 0 && confirmed <= acknowledged
		needed = needed || outdated || unseen
	})
	switch {
	case !needed:
		return nil
	case len(keys) == 0:
		return []string{service.AuthenticationsKey}
	}
	return keys
}

// eachInUse visits the keys that were requested recently or have subscribers, with when
// each was last confirmed, and when the last write whose state is not in memory was
// acknowledged.
func (r *revisions) eachInUse(visit func(key string, confirmed, acknowledged int64)) {
	now := r.now()
	recently := func(used int64) bool { return used != 0 && now-used <= inUse }
	subscribed := r.watches.keys()
	a := &r.authentications
	// Keep the tokens fresh while there are subscribers: one of theirs may have been
	// deleted.
	if used := a.used.Load(); recently(used) || len(subscribed) > 0 && used != 0 {
		visit(service.AuthenticationsKey, a.confirmed.Load(), a.acknowledged.Load())
	}
	held := *r.snapshots.Load()
	for key, t := range held {
		if _, isSubscribed := subscribed[key]; isSubscribed || recently(t.used.Load()) {
			visit(key, t.confirmed.Load(), t.acknowledged.Load())
		}
	}
	for key := range subscribed {
		if held[key] == nil {
			visit(key, 0, 0)
		}
	}
}

// failing reports whether the last query failed.
func (r *revisions) failing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.cause != nil
}
