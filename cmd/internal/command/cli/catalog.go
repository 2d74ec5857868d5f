package cli

import (
	"context"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// summaryPage is how many objects are requested at a time, the maximum of the service.
const summaryPage = 200

// pageSize returns how many objects to request if there are so many already, of limit or, if
// that is 0, of all.
func pageSize(have, limit int) int32 {
	if limit == 0 {
		return summaryPage
	}
	return int32(min(limit-have, summaryPage)) // #nosec G115 -- at most 200
}

// AllFlags returns the summaries of all pages, or of the first ones up to the limit unless that
// is 0.
func AllFlags(
	ctx context.Context, service client.Client, request *guidonv1.ListFlagSummariesRequest, limit int,
) ([]*guidonv1.FlagSummary, error) {
	var flags []*guidonv1.FlagSummary
	for {
		request.Limit = pageSize(len(flags), limit)
		page, err := Call[guidonv1.FlagSummaryList](ctx, service, "/guidon.v1.CatalogService/ListFlagSummaries", request)
		if err != nil {
			return nil, err
		}
		flags = append(flags, page.GetFlags()...)
		if page.NextOffset == nil || len(flags) == limit {
			return flags, nil
		}
		request.Offset = page.GetNextOffset()
	}
}

// AllNamespaces returns the namespaces of all pages.
func AllNamespaces(ctx context.Context, service client.Client) (all []*flipt.Namespace, err error) {
	err = Pages(func(token string) (string, error) {
		request := &flipt.ListNamespaceRequest{PageToken: token} // without a limit: as few pages as possible
		page, err := Call[flipt.NamespaceList](ctx, service, "/flipt.Flipt/ListNamespaces", request)
		all = append(all, page.GetNamespaces()...)
		return page.GetNextPageToken(), err
	})
	return all, err
}

// AllSegments is [AllFlags] for segments.
func AllSegments(
	ctx context.Context, service client.Client, request *guidonv1.ListSegmentSummariesRequest, limit int,
) ([]*guidonv1.SegmentSummary, error) {
	var segments []*guidonv1.SegmentSummary
	for {
		request.Limit = pageSize(len(segments), limit)
		page, err := Call[guidonv1.SegmentSummaryList](ctx, service, "/guidon.v1.CatalogService/ListSegmentSummaries", request)
		if err != nil {
			return nil, err
		}
		segments = append(segments, page.GetSegments()...)
		if page.NextOffset == nil || len(segments) == limit {
			return segments, nil
		}
		request.Offset = page.GetNextOffset()
	}
}
