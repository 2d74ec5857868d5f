package cache

import (
	"context"
	"errors"
	"slices"
	"time"
)

// inUse is for how long after the last request something is kept fresh.
const inUse = int64(time.Minute)

// Refresh asks for everything in use when any of it would be out of date before
// the time ahead has passed, and loads what has changed: so that requests do not
// wait. After a question that failed it asks in any case, to see whether the
// source answers again; and also for those who are subscribed, whom nothing else
// would tell. Without MaxAge nothing goes out of date by itself.
//
// It is for a loop that calls it again before that time has passed.
func (s *Shared) Refresh(ctx context.Context, ahead time.Duration) error {
	keys := s.revisions.due(ahead)
	if len(keys) == 0 {
		return nil
	}
	if err := s.revisions.ask(ctx, demand{after: s.revisions.now()}, keys...); err != nil {
		return err
	}
	var failed []error
	for _, key := range keys {
		if key == AuthenticationsKey {
			failed = append(failed, s.revisions.authentications.refresh(ctx))
		} else if t := s.revisions.snapshot(key); t != nil {
			failed = append(failed, t.refresh(ctx))
		}
	}
	return errors.Join(failed...)
}

// due returns what is in use, when there is a reason to ask now.
func (r *revisions) due(ahead time.Duration) []string {
	now := r.now()
	keys := r.watches.keys()
	watched := len(keys) > 0
	ask := watched || r.failing()
	consider := func(key string, used, stated, acknowledged int64) {
		if now-used > inUse || used == 0 {
			return
		}
		keys = append(keys, key)
		outdated := r.maxAge > 0 && stated+int64(r.maxAge) <= now+int64(ahead)
		unseen := acknowledged > 0 && stated <= acknowledged
		ask = ask || outdated || unseen
	}
	a := &r.authentications
	used := a.used.Load()
	if watched && used != 0 {
		used = now // a token that somebody waits by must not outlive its deletion
	}
	consider(AuthenticationsKey, used, a.stated.Load(), a.acknowledged.Load())
	for key, t := range *r.snapshots.Load() {
		consider(key, t.used.Load(), t.stated.Load(), t.acknowledged.Load())
	}
	switch {
	case !ask:
		return nil
	case len(keys) == 0:
		return []string{AuthenticationsKey}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// failing tells whether the last question failed.
func (r *revisions) failing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.cause != nil
}
