package cache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// outcome is how a write ended.
type outcome struct {
	changes bool // there was anything to write
	kept    bool // the state that it made is in memory
	err     error
}

// writing runs a write to the key, unless the source is known not to answer. If the
// state that it made is not in memory, later reads do not use what was queried before
// the write ended. This includes failed writes, which may have taken effect.
func (r *revisions) writing(key string, write func() outcome) error {
	if err := r.checkAvailable(); err != nil {
		return err
	}
	var o outcome
	defer func() { r.recordWrite(key, o) }() // also when it panics
	o = write()
	return o.err
}

// snapshotMirror returns what a write to the namespace brings up to date.
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
			// What does not exist and was not held needs no place.
			if r.snapshot(key) != nil || next.get().Namespace() != nil {
				r.ensureSlot(key).advance(next, began)
			}
		},
	}
}

// authenticationMirror returns what a write to the authentications brings up to date.
func (r *revisions) authenticationMirror() *mirror[guidon.AuthenticationSet, guidon.AuthenticationDelta] {
	return &mirror[guidon.AuthenticationSet, guidon.AuthenticationDelta]{
		kind: authenticationKind, now: r.now, last: r.authentications.latest.Load, put: r.authentications.advance,
	}
}

// changingTx notices whether anything is changed. Looking for tokens to clean up
// is a write that mostly finds none.
type changingTx struct {
	guidon.AuthenticationTx
	changes *bool
}

func (tx *changingTx) PutAuthentication(ctx context.Context, a *guidon.Authentication) error {
	*tx.changes = true
	return tx.AuthenticationTx.PutAuthentication(ctx, a)
}

func (tx *changingTx) DeleteAuthentication(ctx context.Context, id string) error {
	*tx.changes = true
	return tx.AuthenticationTx.DeleteAuthentication(ctx, id)
}

// checkAvailable returns the error of a write for which the source has just been found
// not to answer.
func (r *revisions) checkAvailable() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.cause == nil {
		return nil
	}
	_, err := r.last.wait(r.now(), r.runningSince(), true)
	return err
}

// recordWrite takes note of the end of a write.
func (r *revisions) recordWrite(key string, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, acknowledged := r.now(), o.changes && o.err == nil
	if key == guidon.AuthenticationsKey {
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

// written returns when a write to the key through this instance ended last, or
// later. r.mu is held.
func (r *revisions) written(key string) int64 {
	if key == guidon.AuthenticationsKey {
		return r.authentications.written.Load()
	}
	if t := r.snapshot(key); t != nil {
		return t.written.Load()
	}
	return r.lastWrite
}
