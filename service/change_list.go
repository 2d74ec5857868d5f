package service

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// ListChanges returns a page of the namespace's change records, newest first, the token
// of the next page, which is empty on the last one, and the state of the namespace, which
// is not newer than the records. A deleted namespace keeps its records; one that never
// existed has none. A page may be shorter than the limit if records are large. With a
// Message or a Reason, the work for one page is limited, so a page may be short or empty
// although it is not the last one. A limit of 0 means 25, and one of more than 100 means 100.
// The page token, which was returned with the previous page, sets Before.
//
// Records of authentications, bindings and webhooks belong to no namespace: the namespace is
// ignored, and the State is zero. Only clients that may list the authentications may see
// them, which the caller must check.
func (s *Service) ListChanges(
	ctx context.Context, d Demand, search change.Search, pageToken string,
) ([]*change.Record, string, State, error) {
	if err := prepareSearch(&search, pageToken); err != nil {
		return nil, "", State{}, err
	}
	var state State
	if !search.Kind.Global() {
		// Read the snapshot first, so that the records are at least as new as the
		// revision that the response states.
		view, err := s.ViewOrEmpty(ctx, search.Namespace, d)
		if err != nil {
			return nil, "", view.State, err
		}
		state = view.State
	}
	changes, next, err := s.changePage(ctx, search)
	if err != nil || next == (guidon.Position{}) {
		return changes, "", state, err
	}
	return changes, ChangesPageToken(next), state, nil
}

// changePage returns the records that the search selects, and the position before which the
// next page is, or zero if there is none.
func (s *Service) changePage(ctx context.Context, search change.Search) ([]*change.Record, guidon.Position, error) {
	if search.Message != "" || search.Reason != "" {
		return s.store.SearchChanges(ctx, search)
	}
	query := search.Query
	changes, err := s.store.Changes(ctx, query)
	if err != nil || len(changes) == 0 {
		return nil, guidon.Position{}, err
	}
	query.Before, query.Limit = changes[len(changes)-1].Cursor(), 1
	more, err := s.store.Changes(ctx, query)
	if err != nil || len(more) == 0 {
		return changes, guidon.Position{}, err
	}
	return changes, query.Before, nil
}

// LatestChange returns the position of the namespace's newest change record, or the
// beginning of the log if there is none.
func (s *Service) LatestChange(ctx context.Context, namespace string) (guidon.Position, error) {
	newest, err := s.store.Changes(ctx, change.Query{Namespace: guidon.NamespaceKey(namespace), Limit: 1})
	if err != nil || len(newest) == 0 {
		return change.After(0), err
	}
	return newest[0].Cursor(), nil
}

// ChangesAfter returns up to 100 of the namespace's change records after the
// position, oldest first, or none if there is none yet. A revision is committed with
// its records, and after the previous revision, so a caller that continues after the
// last record returned sees each record exactly once.
func (s *Service) ChangesAfter(ctx context.Context, namespace string, after guidon.Position) ([]*change.Record, error) {
	return s.store.Changes(ctx, change.Query{Namespace: guidon.NamespaceKey(namespace), After: after, Limit: maxPage})
}

// prepareSearch checks the search and sets what the store expects.
func prepareSearch(search *change.Search, pageToken string) (err error) {
	switch search.Kind {
	case "", change.KindNamespace, change.KindFlag, change.KindSegment, change.KindAuthentication, change.KindBinding, change.KindWebhook:
	default:
		return invalidField("kind", "must be namespace, flag, segment, authentication, binding or webhook")
	}
	switch {
	case utf8.RuneCountInString(search.Message) > MaxMessageLength:
		return invalidField("message", fmt.Sprintf("must not be longer than %d characters", MaxMessageLength))
	case search.Reason != "" && !search.Reason.Known():
		return invalidField("reason", "must be import, promotion, restore or undo")
	case search.First < 0:
		return invalidField("firstRevision", "must not be negative")
	case search.Last < 0:
		return invalidField("lastRevision", "must not be negative")
	case search.Last > 0 && search.Last < search.First:
		return invalidField("lastRevision", "must not be less than firstRevision")
	case search.Limit < 0:
		return invalidField("limit", "must be greater than or equal to '0'")
	}
	search.Namespace, search.Limit = guidon.NamespaceKey(search.Namespace), pageSize(search.Limit)
	search.Before, err = parseChangesPageToken(pageToken)
	return err
}

// ChangesPageToken returns the token of the page of change records that starts after the
// record at c.
func ChangesPageToken(c guidon.Position) string { return placeToken(c) }

func parseChangesPageToken(token string) (guidon.Position, error) {
	if token == "" {
		return guidon.Position{}, nil
	}
	var c guidon.Position
	if err := parsePlace(token, &c); err != nil || c.Revision <= 0 || c.Sequence < 0 {
		return guidon.Position{}, errPageToken(token)
	}
	return c, nil
}
