package guidon

import (
	"context"
	"errors"
	"time"
)

// The wait for a revision that is not there yet: MaxRevisionWait bounds it, and
// the database is asked again after pauses that grow from the first to the last.
const (
	MaxRevisionWait   = 2 * time.Second
	firstRevisionWait = 10 * time.Millisecond
	lastRevisionWait  = 250 * time.Millisecond
)

// await returns what Snapshot returned, or returns later, when the revision that
// the call demands is there, or has not come in time. That a namespace does not
// exist is true of the revision of its deletion, so once it was asked for it is
// the answer.
func (s *Service) await(ctx context.Context, namespace string, call *Call, snapshot *Snapshot, err error) (*Snapshot, error) {
	arrived := func() bool { return err == nil && snapshot.Revision().Number >= call.MinRevision }
	if arrived() || err != nil && !errors.Is(err, NotFound) {
		return snapshot, err
	}
	fresh, begun := call.Fresh, call.Begun
	defer func() { call.Fresh, call.Begun = fresh, begun }()
	call.Stale = 0
	deadline := time.Now().Add(MaxRevisionWait)
	for pause := firstRevisionWait; ; pause = min(2*pause, lastRevisionWait) {
		call.Fresh, call.Begun = true, time.Now()
		snapshot, err = s.store.Snapshot(ctx, namespace)
		if err != nil || arrived() || time.Until(deadline) < pause {
			return snapshot, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// checkRevision returns Unavailable when the revision that the call demands is
// not there. Another instance may have it, or this one later.
func checkRevision(call *Call) error {
	if call.Revision >= call.MinRevision {
		return nil
	}
	return Errorf(Unavailable, "namespace %q is at revision %d, and revision %d has not come; try again later",
		call.Namespace, call.Revision, call.MinRevision)
}

// sleep waits, or returns the error of the context when that ends first.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
