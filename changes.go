package guidon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"
)

// Bounds of the change list.
const (
	defaultChangePage = 25
	maxChangePage     = 100
)

// ChangeFilter selects change records of one namespace. Zero fields do not
// restrict.
type ChangeFilter struct {
	Kind      Kind
	Key       string
	Actor     string     // an actor's id
	Since     *time.Time // inclusive; nil is the beginning
	Until     *time.Time // exclusive; nil is the end
	Limit     int32      // 0 is 25; more than 100 is 100
	PageToken string     // of the page before
}

// ListChanges returns a page of the namespace's change records, newest first,
// and the token of the next page, which is empty on the last. The records of a
// deleted namespace remain; a namespace that never was has none. A page may be
// shorter than asked for where records are large.
func (s *Service) ListChanges(ctx context.Context, namespace string, filter ChangeFilter) ([]*Change, string, error) {
	namespace = NamespaceKey(namespace)
	query, err := filter.query(namespace)
	if err != nil {
		return nil, "", err
	}
	// The snapshot first: the records that follow are at least as new as the
	// revision that the answer states.
	if _, err := s.viewOrEmpty(ctx, namespace); err != nil {
		return nil, "", err
	}
	changes, err := s.store.Changes(ctx, query)
	if err != nil {
		return nil, "", err
	}
	if len(changes) == 0 {
		return nil, "", nil
	}
	query.Before, query.Limit = changes[len(changes)-1].Cursor(), 1
	more, err := s.store.Changes(ctx, query)
	if err != nil || len(more) == 0 {
		return changes, "", err
	}
	return changes, query.Before.PageToken(), nil
}

// LatestChange returns the place of the namespace's newest change record, or the
// beginning of the log where there is none.
func (s *Service) LatestChange(ctx context.Context, namespace string) (ChangeCursor, error) {
	newest, err := s.store.Changes(ctx, ChangeQuery{Namespace: NamespaceKey(namespace), Limit: 1})
	if err != nil || len(newest) == 0 {
		return CursorAfter(0), err
	}
	return newest[0].Cursor(), nil
}

// ChangesAfter returns the namespace's change records that follow the place,
// oldest first, and none when there is none yet. A revision is committed with its
// records, and after the one before it: who goes on from the last record returned
// misses none and gets none twice.
func (s *Service) ChangesAfter(ctx context.Context, namespace string, after ChangeCursor) ([]*Change, error) {
	return s.store.Changes(ctx, ChangeQuery{Namespace: NamespaceKey(namespace), After: after, Limit: maxChangePage})
}

func (f ChangeFilter) query(namespace string) (ChangeQuery, error) {
	switch f.Kind {
	case "", KindNamespace, KindFlag, KindSegment:
	default:
		return ChangeQuery{}, invalidField("kind", "must be namespace, flag or segment")
	}
	if f.Limit < 0 {
		return ChangeQuery{}, invalidField("limit", "must be greater than or equal to '0'")
	}
	limit := min(int(f.Limit), maxChangePage)
	if limit == 0 {
		limit = defaultChangePage
	}
	cursor, err := parseChangeCursor(f.PageToken)
	if err != nil {
		return ChangeQuery{}, err
	}
	return ChangeQuery{
		Namespace: namespace, Kind: f.Kind, Key: f.Key, Actor: f.Actor,
		Since: f.Since, Until: f.Until, Before: cursor, Limit: limit,
	}, nil
}

// PageToken returns the token of the page that follows the record at the place.
func (c ChangeCursor) PageToken() string {
	text, _ := json.Marshal(c) // two numbers always have a form
	return base64.StdEncoding.EncodeToString(text)
}

func parseChangeCursor(token string) (ChangeCursor, error) {
	if token == "" {
		return ChangeCursor{}, nil
	}
	var c ChangeCursor
	text, err := base64.StdEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil || c.Revision <= 0 || c.Sequence < 0 {
		return ChangeCursor{}, Errorf(InvalidArgument, "pageToken is not valid: %q", token)
	}
	return c, nil
}
