package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service/count"
)

// State is the state of a namespace that a response is about. The zero State belongs to
// a response that is not about exactly one namespace.
type State struct {
	Namespace string
	Revision  int64         // 0 if the namespace never existed, or the revision is not known
	Stamp     int64         // of the revision, if a view of the namespace was read
	Epoch     int64         // of the snapshot of that view
	Age       time.Duration // since it was last known to be current; 0 unless the database is unavailable
}

// View is one state of a namespace. Its methods check their arguments, read that state, and
// do not modify anything. The objects that they return are shared and must not be modified.
type View struct {
	Snapshot *guidon.Snapshot
	State
	clock func() time.Time // of the service; nil means time.Now
	at    time.Time        // of the snapshot; may be zero if that is the same at all times

	Counter *count.Counter // of the service; nil if it counts no evaluations
}

// now returns the time, for results that depend on it besides the state.
func (v View) now() time.Time {
	if v.clock == nil {
		return time.Now()
	}
	return v.clock()
}

// View returns a state of the namespace that satisfies d. It returns NotFound if the
// namespace does not exist, and Unavailable if d.AtLeast is not reached within
// [MaxRevisionWait]. A [Reference] to another state is InvalidArgument. If there is an
// error, the View has only the State, as far as that is known.
func (s *Service) View(ctx context.Context, namespace string, d Demand) (View, error) {
	namespace = guidon.NamespaceKey(namespace)
	view := View{State: State{Namespace: namespace}, clock: s.now, Counter: s.counter}
	snapshot, age, err := s.store.Snapshot(ctx, namespace, d)
	if d.AtLeast > 0 {
		snapshot, age, err = s.await(ctx, namespace, d, snapshot, age, err)
	}
	view.Age = age
	if errors.Is(err, guidon.NotFound) {
		if _, past := ReferenceKey(namespace); past {
			return view, ErrReference(namespace)
		}
		return view, guidon.Errorf(guidon.NotFound, "namespace %q not found", namespace)
	}
	if err != nil {
		return view, err
	}
	view.Revision, view.Stamp = snapshot.Revision().Number, snapshot.Revision().Stamp
	if err := checkRevision(view.State, d); err != nil {
		return view, err
	}
	view.see(snapshot, time.Time{})
	return view, nil
}

// see sets the snapshot as it is at the instant, or now if that is zero. It reads the clock
// only if answers depend on the time.
func (v *View) see(s *guidon.Snapshot, at time.Time) {
	v.Snapshot, v.at = s, at
	switch {
	case !s.Timed():
		return
	case at.IsZero():
		v.at = v.now()
		v.Snapshot = s.At(v.at)
	default:
		v.Snapshot = s.Preview(at)
	}
	v.Epoch = v.Snapshot.Epoch()
}

// AsOf returns the instant that the explanation is for, or zero if it is the same at all times.
func (v View) AsOf(e *analysis.Explanation) time.Time {
	if !e.Timed {
		return time.Time{}
	}
	return v.at
}

// instant returns the instant that the view is for.
func (v View) instant() time.Time {
	if v.at.IsZero() {
		return v.now()
	}
	return v.at
}

// after returns the snapshot as it is at the instant of the view after a change.
func (v View) after(delta guidon.SnapshotDelta) *guidon.Snapshot {
	return v.Snapshot.Apply(delta).At(v.instant())
}

// ViewOrEmpty is View, but returns an empty state if the namespace does not exist. Lists
// (contract 6) and evaluation (contract 7.1) use it.
func (s *Service) ViewOrEmpty(ctx context.Context, namespace string, d Demand) (View, error) {
	view, err := s.View(ctx, namespace, d)
	if errors.Is(err, guidon.NotFound) {
		view.Snapshot = guidon.NewSnapshot(&guidon.Namespace{Key: view.Namespace}, guidon.Revision{}, nil, nil)
		view.Counter = nil // callers make up names
		err = nil
	}
	return view, err
}

// Demand says how current the state that a read returns must be. The zero Demand stands for
// the guarantee of the configuration.
type Demand struct {
	// Begun is when the request arrived. It must come from time.Now, because a store
	// compares it with its own times; zero means the start of the read.
	Begun time.Time
	// Fresh requires a check after Begun that the state is current.
	Fresh bool
	// AtLeast requires this revision of the namespace, or a later one. A [Service] waits
	// for it for at most [MaxRevisionWait]. A [Store] ignores it.
	AtLeast int64
	// MayBeStale allows an old state while the database is unavailable.
	MayBeStale bool
}

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
