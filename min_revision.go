package guidon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
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
		if err := clock.Sleep(ctx, pause); err != nil {
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
	err := &Error{Code: Unavailable, Message: fmt.Sprintf("namespace %q is at revision %d, and revision %d has not come; try again later",
		call.Namespace, call.Revision, call.MinRevision)}
	if call.Stale > 0 {
		return err // the revision may be in the database, which does not answer
	}
	return &missingRevision{err}
}

// missingRevision is the error for a revision that the database does not have.
type missingRevision struct{ err *Error }

func (e *missingRevision) Error() string { return e.err.Error() }
func (e *missingRevision) Unwrap() error { return e.err }

// IsMissingRevision reports whether err says that the namespace has not reached the
// revision demanded by the caller, although the database answered.
func IsMissingRevision(err error) bool {
	_, ok := errors.AsType[*missingRevision](err)
	return ok
}
