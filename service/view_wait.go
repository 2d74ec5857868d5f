package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// MaxRevisionWait is how long a read waits for Call.MinRevision. Meanwhile the database
// is polled at intervals that double from firstRevisionWait to lastRevisionWait.
const (
	MaxRevisionWait   = 2 * time.Second
	firstRevisionWait = 10 * time.Millisecond
	lastRevisionWait  = 250 * time.Millisecond
)

// await returns the results of Store.Snapshot, which it calls again until the snapshot
// has the revision that the call requires, or until MaxRevisionWait has passed. NotFound
// is confirmed by one fresh read and then returned, because it may be the state of the
// required revision, after a deletion.
func (s *Service) await(ctx context.Context, namespace string, call *Call, snapshot *guidon.Snapshot, err error) (*guidon.Snapshot, error) {
	reached := func() bool { return err == nil && snapshot.Revision().Number >= call.MinRevision }
	if reached() || err != nil && !errors.Is(err, guidon.NotFound) {
		return snapshot, err
	}
	fresh, begun := call.Fresh, call.Begun
	defer func() { call.Fresh, call.Begun = fresh, begun }()
	call.Stale = 0
	deadline := time.Now().Add(MaxRevisionWait)
	for pause := firstRevisionWait; ; pause = min(2*pause, lastRevisionWait) {
		call.Fresh, call.Begun = true, time.Now()
		snapshot, err = s.store.Snapshot(ctx, namespace)
		if err != nil || reached() || time.Until(deadline) < pause {
			return snapshot, err
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// checkRevision returns Unavailable if the snapshot does not have the revision that the
// call requires. Another instance may have it, or this one later.
func checkRevision(call *Call) error {
	if call.Revision >= call.MinRevision {
		return nil
	}
	err := &guidon.Error{Code: guidon.Unavailable, Message: fmt.Sprintf("namespace %q is at revision %d and has not reached revision %d; try again later",
		call.Namespace, call.Revision, call.MinRevision)}
	if call.Stale > 0 {
		return err // the database, which is unavailable, may have the revision
	}
	return &missingRevision{err}
}

// missingRevision is the error if the database does not have the revision.
type missingRevision struct{ err *guidon.Error }

func (e *missingRevision) Error() string { return e.err.Error() }
func (e *missingRevision) Unwrap() error { return e.err }

// IsMissingRevision reports whether err means that the namespace has not reached
// Call.MinRevision although the database is available.
func IsMissingRevision(err error) bool {
	_, ok := errors.AsType[*missingRevision](err)
	return ok
}
