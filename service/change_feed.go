package service

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon/change"
)

// FeedFilter selects change records of all namespaces. Zero fields do not restrict the selection.
type FeedFilter struct {
	Namespace string
	Actor     string // an actor's id
	Events    []change.Event
	Since     *time.Time // inclusive
	Until     *time.Time // exclusive
	Limit     int32      // 0 means 25; more than 100 means 100
	PageToken string     // returned with the previous page
}

// AllChanges returns a page of the change records of the namespaces that the caller may read,
// including deleted ones, newest first by time, and the token of the next page, which is empty on
// the last one. The work for one page is limited, so a page may be short or empty although it is not
// the last one. It returns PermissionDenied if the caller may read no namespace, or not the one of
// the filter.
func (s *Service) AllChanges(ctx context.Context, by Caller, f FeedFilter) ([]*change.Record, string, error) {
	feed, err := f.feed()
	if err != nil {
		return nil, "", err
	}
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

func (f FeedFilter) feed() (change.Feed, error) {
	feed := change.Feed{In: f.Namespace, Actor: f.Actor, Events: f.Events, Since: f.Since, Until: f.Until, Limit: pageSize(int(f.Limit))}
	if f.Limit < 0 {
		return feed, invalidField("limit", "must be greater than or equal to '0'")
	}
	for _, event := range f.Events {
		if !slices.Contains(change.Events, event) {
			return feed, invalidField("events", "must be turned-off, turned-on, targeting, created, deleted or other")
		}
	}
	slices.Sort(feed.Events)
	feed.Events = slices.Compact(feed.Events)
	if f.PageToken == "" {
		return feed, nil
	}
	if err := parsePlace(f.PageToken, &feed.Before); err != nil || feed.Before == (change.Place{}) {
		return feed, errPageToken(f.PageToken)
	}
	return feed, nil
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
