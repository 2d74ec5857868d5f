package service

import (
	"context"
	"fmt"

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
