package deliver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Bounds of one round.
const (
	maxNamespaces = 100
	maxDeliveries = 100 // of a namespace, before it is the turn of others
)

// errNoLease ends a round because the lease is about to end.
var errNoLease = errors.New("the lease has not been renewed in time")

// round delivers to the target what its reader has not passed. It reports whether there is more that can be
// delivered now, and when something can be that failed; zero means never.
func (r *Runner) round(ctx context.Context, h *holding, t Target) (more bool, next time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	waiting, err := t.Waiting(ctx)
	if err != nil {
		return false, next, err
	}
	changed, err := r.store.ChangedNamespaces(ctx, t.Reader(), "", maxNamespaces)
	if errors.Is(err, guidon.NotFound) {
		more, err = r.register(ctx, t)
		return more, next, err
	}
	if err != nil {
		return false, next, err
	}
	if len(changed) == maxNamespaces { // those that wait must not hide others
		if changed, err = r.allChanged(ctx, t, changed); err != nil {
			return false, next, err
		}
	}
	r.noteOldest(t, changed)
	// What the target does not cover is only passed over, so it comes last.
	slices.SortStableFunc(changed, func(a, b service.ChangedNamespace) int { return order(t, a.Key) - order(t, b.Key) })
	for _, n := range changed {
		again := waiting[n.Key]
		if !time.Now().Before(again) {
			var unfinished bool
			if unfinished, again, err = r.deliverNamespace(ctx, h, t, n); err != nil {
				return false, next, err
			}
			more = more || unfinished
		}
		if !again.IsZero() && (next.IsZero() || again.Before(next)) {
			next = again
		}
	}
	if len(changed) == 0 {
		r.noteBehind(t.Reader(), time.Time{})
	}
	return more, next, nil
}

// register registers the reader of a new sink, or one that somebody has removed, and reports whether it did: not that of a
// target that no longer exists.
func (r *Runner) register(ctx context.Context, t Target) (bool, error) {
	targets, err := r.targets(ctx)
	if err != nil || !slices.ContainsFunc(targets, func(other Target) bool { return other.Reader() == t.Reader() }) {
		return false, err
	}
	r.logger.Info("a receiver of changes begins with the next change", "reader", t.Reader())
	return true, r.store.RegisterReader(ctx, t.Reader())
}

func order(t Target, namespace string) int {
	if t.Covers(namespace) {
		return 0
	}
	return 1
}

// allChanged returns the namespaces after a first page too.
func (r *Runner) allChanged(ctx context.Context, t Target, page []service.ChangedNamespace) ([]service.ChangedNamespace, error) {
	all := page
	for len(page) == maxNamespaces {
		var err error
		if page, err = r.store.ChangedNamespaces(ctx, t.Reader(), page[len(page)-1].Key, maxNamespaces); err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	return all, nil
}

func (r *Runner) noteOldest(t Target, changed []service.ChangedNamespace) {
	var oldest time.Time
	for _, n := range changed {
		if t.Covers(n.Key) && (oldest.IsZero() || n.Since.Before(oldest)) {
			oldest = n.Since
		}
	}
	r.noteBehind(t.Reader(), oldest)
}

// deliverNamespace delivers from where the reader is, until nothing is left, a delivery fails, or others must have
// their turn.
func (r *Runner) deliverNamespace(
	ctx context.Context, h *holding, t Target, n service.ChangedNamespace,
) (unfinished bool, again time.Time, err error) {
	from, at := n.Position, n.Position // where the reader is, and up to where nothing is selected
	var skipped *change.Record         // at at, if that is not where the reader is
	for range maxDeliveries {
		past, again, err := r.deliverNext(ctx, h, t, n.Key, from, at)
		switch {
		case errors.Is(err, guidon.FailedPrecondition):
			r.logger.Info("a receiver of changes goes on elsewhere: its reader was moved, or a backup restored",
				"reader", t.Reader(), "namespace", n.Key, "was", from.Revision)
			return true, again, nil
		case err != nil || !again.IsZero():
			return false, again, err
		case past == nil && skipped == nil:
			return false, again, nil
		case past == nil:
			return false, again, r.skip(ctx, h, t, from, skipped)
		case past.delivered:
			from, skipped = past.record.Cursor(), nil
		default:
			skipped = past.record
		}
		at = past.record.Cursor()
	}
	if skipped != nil {
		err = r.skip(ctx, h, t, from, skipped)
	}
	return true, again, err
}

// passed is how far a namespace has been read.
type passed struct {
	record    *change.Record // without objects
	delivered bool           // and the reader moved
}

// deliverNext delivers the first batch after at, if there is one in the next records. It returns nil if there are none.
func (r *Runner) deliverNext(
	ctx context.Context, h *holding, t Target, namespace string, from, at guidon.Position,
) (*passed, time.Time, error) {
	if !h.mayStart() {
		return nil, time.Time{}, errNoLease
	}
	if err := acquire(ctx, r.attempts); err != nil {
		return nil, time.Time{}, err
	}
	defer func() { <-r.attempts }()
	parcel, past, err := r.read(ctx, t, namespace, at)
	if err != nil || parcel == nil {
		return past, time.Time{}, err
	}
	if !h.mayStart() { // it may have waited
		return nil, time.Time{}, errNoLease
	}
	parcel.From = from
	again, err := t.Deliver(ctx, parcel)
	return past, again, err
}

// read returns the first parcel after a position, if there is one in the next records, and up to where it has read.
func (r *Runner) read(ctx context.Context, t Target, namespace string, at guidon.Position) (*Parcel, *passed, error) {
	if err := acquire(ctx, r.reading); err != nil {
		return nil, nil, err
	}
	defer func() { <-r.reading }()
	unread := service.ChangedNamespace{Key: namespace, Position: at}.Unread(maxRecords)
	if !t.Covers(namespace) { // to the newest at once
		unread.After, unread.Limit = guidon.Position{}, 1
	}
	records, err := r.store.Changes(ctx, unread)
	if err != nil || len(records) == 0 || records[len(records)-1].Cursor() == at {
		return nil, nil, err
	}
	if !t.Covers(namespace) {
		return nil, &passed{record: withoutObjects(records[0])}, nil
	}
	batch, past := cut(t, namespace, records)
	end := &passed{record: withoutObjects(past), delivered: len(batch.Records) > 0}
	if !end.delivered {
		return nil, end, nil
	}
	body, err := t.Encode(batch)
	if err == nil && len(body) > maxBody && len(batch.Records) > 0 && !batch.Abridged {
		batch.Records, end.record = batch.Records[:1], withoutObjects(batch.First())
		batch.abridge()
		body, err = t.Encode(batch)
	}
	first := batch.First()
	return &Parcel{
		Namespace: namespace, Revision: first.Revision, Part: first.Sequence, Event: service.EventOf(first), Body: body, Past: end.record,
	}, end, err
}

// skip moves the reader past records that are not delivered, without haste if the runner has time.
func (r *Runner) skip(ctx context.Context, h *holding, t Target, from guidon.Position, past *change.Record) error {
	if err := r.store.AdvanceReader(ctx, t.Reader(), from, past); err != nil && !errors.Is(err, guidon.FailedPrecondition) {
		return err
	}
	return clock.Sleep(ctx, h.pause)
}

func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func withoutObjects(c *change.Record) *change.Record {
	plain := *c
	plain.Before, plain.After = nil, nil
	return &plain
}
