package service

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon/change"
)

// AllChanges returns a page of the change records of the namespaces that the caller may read,
// including deleted ones, newest first by time, and the token of the next page, which is empty on
// the last one. The work for one page is limited, so a page may be short or empty although it is not
// the last one. It returns PermissionDenied if the caller may read no namespace, or not the one of
// the feed. A limit of 0 means 25, and one of more than 100 means 100. The page token, which was
// returned with the previous page, sets Before, and the caller what is Visible.
func (s *Service) AllChanges(
	ctx context.Context, by Caller, feed change.Feed, pageToken string,
) ([]*change.Record, string, error) {
	if err := prepareFeed(&feed, pageToken); err != nil {
		return nil, "", err
	}
	var err error
	if feed.Visible, err = by.readable(); err != nil {
		return nil, "", err
	}
	if feed.In != "" && feed.Visible != nil && !feed.Visible(feed.In) {
		return nil, "", Refusal(RoleViewer, feed.In)
	}
	changes, next, err := s.store.AllChanges(ctx, feed)
	if err != nil || next == (change.Place{}) {
		return changes, "", err
	}
	return changes, FeedPageToken(next), nil
}

// prepareFeed checks the feed and sets what the store expects.
func prepareFeed(feed *change.Feed, pageToken string) error {
	if feed.Limit < 0 {
		return invalidField("limit", "must be greater than or equal to '0'")
	}
	feed.Limit = pageSize(feed.Limit)
	for _, event := range feed.Events {
		if !slices.Contains(change.Events, event) {
			return invalidField("events", "must be turned-off, turned-on, targeting, created, deleted or other")
		}
	}
	slices.Sort(feed.Events)
	feed.Events = slices.Compact(feed.Events)
	if pageToken == "" {
		return nil
	}
	if err := parsePlace(pageToken, &feed.Before); err != nil || feed.Before == (change.Place{}) {
		return errPageToken(pageToken)
	}
	return nil
}

// FeedPageToken returns the token of the page of [Service.AllChanges] that starts after a place.
func FeedPageToken(at change.Place) string { return placeToken(at) }

// readable returns whether the caller may read a namespace, or nil if the caller may read all. It
// returns PermissionDenied if there can be none.
func (c Caller) readable() (func(namespace string) bool, error) {
	a := c.Authentication
	if a == nil {
		return nil, nil
	}
	scope, limited := a.Scope()
	if a.May(RoleViewer, Everywhere) && !limited {
		return nil, nil
	}
	if !a.MayAnywhere(RoleViewer) {
		return nil, Refusal(RoleViewer, Everywhere)
	}
	return func(namespace string) bool { return (!limited || namespace == scope) && a.May(RoleViewer, namespace) }, nil
}
