package cache

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// snapshotMirror returns the mirror of a write to the namespace.
func (r *revisions) snapshotMirror(key string) *mirror[guidon.Snapshot, guidon.SnapshotDelta] {
	m := newMirror(snapshotKind, func() *version[guidon.Snapshot] {
		if t := r.snapshot(key); t != nil {
			return t.latest.Load()
		}
		return nil
	})
	m.now = r.now
	m.put = func(next *version[guidon.Snapshot]) {
		// A namespace that does not exist and was not cached needs no slot.
		if r.snapshot(key) != nil || next.get().Namespace() != nil {
			r.ensureSlot(key).advance(next, m.began)
		}
	}
	return m
}

// authenticationMirror returns the mirror of a write to the authentications.
func (r *revisions) authenticationMirror() *mirror[service.AuthenticationSet, service.AuthenticationDelta] {
	m := newMirror(authenticationKind, r.authentications.latest.Load)
	m.now = r.now
	m.put = func(next *version[service.AuthenticationSet]) { r.authentications.advance(next, m.began) }
	return m
}

// checkAvailable returns an error if the source has just been found not to respond.
func (r *revisions) checkAvailable() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.cause == nil {
		return nil
	}
	_, err := r.last.wait(r.now(), r.runningSince(), true)
	return err
}

// recordWrite records the end of a write, and notifies subscribers. If the resulting state
// is not in memory, later reads do not use revisions queried before the write ended. This
// includes failed writes, which may have taken effect.
func (r *revisions) recordWrite(key string, kept, acknowledged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if key == service.AuthenticationsKey {
		if !kept {
			r.authentications.recordWrite(now, acknowledged)
		}
		r.watches.wakeAll()
		return
	}
	defer r.watches.wake(key)
	r.lastWrite = now
	if t := r.snapshot(key); t != nil && !kept {
		t.recordWrite(now, acknowledged)
	}
}

// written returns when the last write to the key ended whose state is not in memory, or
// a later instant. r.mu must be held.
func (r *revisions) written(key string) int64 {
	if key == service.AuthenticationsKey {
		return r.authentications.written.Load()
	}
	if t := r.snapshot(key); t != nil {
		return t.written.Load()
	}
	return r.lastWrite
}
