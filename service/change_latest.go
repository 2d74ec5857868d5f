package service

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// maxLatestKeys limits the objects of one call of [Service.LatestChanges].
const maxLatestKeys = 500

// LatestChanges returns the newest change record of each of the flags or segments with the
// keys, in the order of the keys; and the state of the namespace, which is not newer than
// the records. A record of more than 16 KiB is without the objects before and after. It
// leaves out objects that do not exist, and those whose record was deleted because of its
// age.
func (s *Service) LatestChanges(
	ctx context.Context, d Demand, namespace string, kind change.Kind, keys []string,
) ([]*change.Record, State, error) {
	return s.latestChanges(ctx, d, namespace, kind, keys, func(View) ([]*change.Record, error) {
		return s.store.LatestChanges(ctx, guidon.NamespaceKey(namespace), kind, keys)
	})
}

// latestChanges is LatestChanges with the records that read returns.
func (s *Service) latestChanges(
	ctx context.Context, d Demand, namespace string, kind change.Kind, keys []string, read func(View) ([]*change.Record, error),
) ([]*change.Record, State, error) {
	switch {
	case kind != change.KindFlag && kind != change.KindSegment:
		return nil, State{}, invalidField("kind", "must be flag or segment")
	case len(keys) == 0:
		return nil, State{}, emptyField("keys")
	case len(keys) > maxLatestKeys:
		return nil, State{}, invalidField("keys", fmt.Sprintf("must not have more than %d values", maxLatestKeys))
	}
	// Read the snapshot first, as ListChanges does.
	view, err := s.ViewOrEmpty(ctx, namespace, d)
	if err != nil {
		return nil, view.State, err
	}
	records, err := read(view)
	if err != nil {
		return nil, view.State, err
	}
	byKey := make(map[string]*change.Record, len(records))
	for _, c := range records {
		byKey[c.Key] = c
	}
	latest := make([]*change.Record, 0, len(records))
	for _, key := range keys {
		if c := byKey[key]; c != nil {
			latest = append(latest, c)
			delete(byKey, key) // a key may be there twice
		}
	}
	return latest, view.State, nil
}

// latestKnown limits how long a record is returned from memory. It becomes wrong only if it is
// deleted because of its age.
const latestKnown = 5 * time.Minute

// latestRecord is the newest change record of a flag, without the objects.
type latestRecord struct {
	common   *change.Record // shared by the flags that changed in one revision
	sequence int32
	action   change.Action
	readAt   time.Time
}

// latestOf remembers the newest record of a flag as long as the flag does not change.
var latestOf = guidon.NewFlagDerivation(func(*guidon.CompiledFlag) *atomic.Pointer[latestRecord] { return new(atomic.Pointer[latestRecord]) })

// LatestChangesWithoutObjects is [Service.LatestChanges] without the objects before and after.
// The records of flags are remembered, so that a list that names the author of each flag
// seldom queries the database. One that is deleted because of its age may be returned for five
// minutes more.
func (s *Service) LatestChangesWithoutObjects(
	ctx context.Context, d Demand, namespace string, kind change.Kind, keys []string,
) ([]*change.Record, State, error) {
	return s.latestChanges(ctx, d, namespace, kind, keys, func(view View) ([]*change.Record, error) {
		if kind != change.KindFlag {
			return s.store.LatestChanges(ctx, guidon.NamespaceKey(namespace), kind, keys)
		}
		readAt := view.now()
		known, unknown := view.knownLatest(keys, readAt)
		if len(unknown) == 0 {
			return known, nil
		}
		records, err := s.store.LatestChanges(ctx, guidon.NamespaceKey(namespace), kind, unknown)
		if err != nil {
			return nil, err
		}
		view.rememberLatest(records, readAt)
		return append(known, records...), nil
	})
}

// knownLatest returns the records that are remembered, and the keys of the other flags.
func (v View) knownLatest(keys []string, now time.Time) (records []*change.Record, unknown []string) {
	for _, key := range keys {
		if known := v.latest(key); known == nil || now.Sub(known.readAt) > latestKnown {
			unknown = append(unknown, key)
		} else {
			c := *known.common
			c.Key, c.Sequence, c.Action = key, known.sequence, known.action
			records = append(records, &c)
		}
	}
	return records, unknown
}

// latest returns the record that is remembered for the flag, or nil.
func (v View) latest(key string) *latestRecord {
	if f := v.Snapshot.Compiled(key); f != nil {
		return latestOf.Of(f).Load()
	}
	return nil
}

// rememberLatest remembers the records, except those that are newer than the flags of the view.
func (v View) rememberLatest(records []*change.Record, readAt time.Time) {
	byRevision := make(map[int64]*change.Record)
	for _, c := range records {
		f := v.Snapshot.Compiled(c.Key)
		if f == nil || c.Revision > v.Revision {
			continue
		}
		common := byRevision[c.Revision]
		if common == nil {
			copied := *c
			copied.Before, copied.After = nil, nil
			common, byRevision[c.Revision] = &copied, &copied
		}
		latestOf.Of(f).Store(&latestRecord{common, c.Sequence, c.Action, readAt})
	}
}
