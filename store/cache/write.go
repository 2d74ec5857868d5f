package cache

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// outcome is how a write ended.
type outcome struct {
	changes bool // there was something to write
	kept    bool // the resulting state is in memory
	err     error
}

// writing runs a write to the key, unless the source is known not to respond. If the
// resulting state is not in memory, later reads do not use revisions queried before the
// write ended. This includes failed writes, which may have taken effect.
func (r *revisions) writing(key string, write func() outcome) error {
	if err := r.checkAvailable(); err != nil {
		return err
	}
	var o outcome
	defer func() { r.recordWrite(key, o) }() // also when it panics
	o = write()
	return o.err
}

// snapshotMirror returns the mirror of a write to the namespace.
func (r *revisions) snapshotMirror(key string) *mirror[guidon.Snapshot, guidon.SnapshotDelta] {
	return &mirror[guidon.Snapshot, guidon.SnapshotDelta]{
		kind: snapshotKind, now: r.now,
		last: func() *version[guidon.Snapshot] {
			if t := r.snapshot(key); t != nil {
				return t.latest.Load()
			}
			return nil
		},
		put: func(next *version[guidon.Snapshot], began int64) {
			// A namespace that does not exist and was not cached needs no slot.
			if r.snapshot(key) != nil || next.get().Namespace() != nil {
				r.ensureSlot(key).advance(next, began)
			}
		},
	}
}

// authenticationMirror returns the mirror of a write to the authentications.
func (r *revisions) authenticationMirror() *mirror[service.AuthenticationSet, service.AuthenticationDelta] {
	return &mirror[service.AuthenticationSet, service.AuthenticationDelta]{
		kind: authenticationKind, now: r.now, last: r.authentications.latest.Load, put: r.authentications.advance,
	}
}

// changeTracker records whether anything is changed. The cleanup of expired tokens is a
// write that mostly finds none.
type changeTracker struct {
	service.AuthenticationTx
	changes *bool
}

func (tx *changeTracker) PutAuthentication(ctx context.Context, a *service.Authentication) error {
	*tx.changes = true
	return tx.AuthenticationTx.PutAuthentication(ctx, a)
}

func (tx *changeTracker) PutBinding(ctx context.Context, b *service.Binding) error {
	*tx.changes = true
	return tx.AuthenticationTx.PutBinding(ctx, b)
}

func (tx *changeTracker) DeleteBinding(ctx context.Context, id string) error {
	*tx.changes = true
	return tx.AuthenticationTx.DeleteBinding(ctx, id)
}

func (tx *changeTracker) DeleteAuthentication(ctx context.Context, id string) error {
	*tx.changes = true
	return tx.AuthenticationTx.DeleteAuthentication(ctx, id)
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

// recordWrite records the end of a write and notifies subscribers.
func (r *revisions) recordWrite(key string, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, acknowledged := r.now(), o.changes && o.err == nil
	if key == service.AuthenticationsKey {
		if !o.kept {
			r.authentications.recordWrite(now, acknowledged)
		}
		r.watches.wakeAll()
		return
	}
	defer r.watches.wake(key)
	r.lastWrite = now
	if t := r.snapshot(key); t != nil && !o.kept {
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
