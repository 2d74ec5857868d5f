package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// MaxRevisionWait is how long a read waits for Demand.AtLeast. Meanwhile the database
// is polled at intervals that double from firstRevisionWait to lastRevisionWait.
const (
	MaxRevisionWait   = 2 * time.Second
	firstRevisionWait = 10 * time.Millisecond
	lastRevisionWait  = 250 * time.Millisecond
)

// await returns the results of Store.Snapshot, which it calls again until the snapshot
// has the revision that d requires, or until MaxRevisionWait has passed. NotFound is
// confirmed by one fresh read and then returned, because it may be the state of the
// required revision, after a deletion.
func (s *Service) await(
	ctx context.Context, namespace string, d Demand, snapshot *guidon.Snapshot, age time.Duration, err error,
) (*guidon.Snapshot, time.Duration, error) {
	reached := func() bool { return err == nil && snapshot.Revision().Number >= d.AtLeast }
	if reached() || err != nil && !errors.Is(err, guidon.NotFound) {
		return snapshot, age, err
	}
	d.Fresh = true
	deadline := time.Now().Add(MaxRevisionWait)
	for pause := firstRevisionWait; ; pause = min(2*pause, lastRevisionWait) {
		d.Begun = time.Now()
		snapshot, age, err = s.store.Snapshot(ctx, namespace, d)
		if err != nil || reached() || time.Until(deadline) < pause {
			return snapshot, age, err
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return nil, 0, err
		}
	}
}

// checkRevision returns Unavailable if the state does not have the revision that d
// requires. Another instance may have it, or this one later.
func checkRevision(state State, d Demand) error {
	if state.Revision >= d.AtLeast {
		return nil
	}
	err := &guidon.Error{Code: guidon.Unavailable,
		Message: fmt.Sprintf("namespace %q is at revision %d and has not reached revision %d; try again later",
			state.Namespace, state.Revision, d.AtLeast)}
	if state.Age > 0 {
		return err // the database, which is unavailable, may have the revision
	}
	return &missingRevision{err}
}

// missingRevision is the error if the database does not have the revision.
type missingRevision struct{ err *guidon.Error }

func (e *missingRevision) Error() string { return e.err.Error() }
func (e *missingRevision) Unwrap() error { return e.err }

// IsMissingRevision reports whether err means that the namespace has not reached
// Demand.AtLeast although the database is available.
func IsMissingRevision(err error) bool {
	_, ok := errors.AsType[*missingRevision](err)
	return ok
}
