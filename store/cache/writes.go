package cache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// writing runs a write to the key, unless the source is known not to answer. It
// tells whether there was anything to write. Who asks after it is not answered by
// what was known, or being asked, before: also when it failed, as it may have
// taken effect all the same.
func (r *revisions) writing(key string, write func() (changes bool, err error)) (err error) {
	if err := r.refuse(); err != nil {
		return err
	}
	acknowledged := false
	defer func() { r.wrote(key, acknowledged) }() // also when it panics
	changes, err := write()
	acknowledged = changes && err == nil
	return err
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

// refuse returns the error of a write for which the source has just been found
// not to answer.
func (r *revisions) refuse() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.cause == nil {
		return nil
	}
	_, err := r.last.wait(r.now(), r.underWay(), true)
	return err
}

func (r *revisions) wrote(key string, acknowledged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if key == guidon.AuthenticationsKey {
		r.authentications.wrote(now, acknowledged)
		r.watches.wakeAll()
		return
	}
	defer r.watches.wake(key)
	r.lastWrite = now
	if t := r.snapshot(key); t != nil {
		t.wrote(now, acknowledged)
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
