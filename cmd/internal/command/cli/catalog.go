package cli

import (
	"context"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// summaryPage is how many objects are requested at a time, the maximum of the service.
const summaryPage = 200

// AllFlags returns the summaries of all pages.
func AllFlags(ctx context.Context, service client.Client, request *guidonv1.ListFlagSummariesRequest) ([]*guidonv1.FlagSummary, error) {
	var flags []*guidonv1.FlagSummary
	request.Sort, request.Limit = guidonv1.FlagSort_KEY_FLAG_SORT, summaryPage
	for {
		page, err := Call[guidonv1.FlagSummaryList](ctx, service, "/guidon.v1.CatalogService/ListFlagSummaries", request)
		if err != nil {
			return nil, err
		}
		flags = append(flags, page.GetFlags()...)
		if page.NextOffset == nil {
			return flags, nil
		}
		request.Offset = page.GetNextOffset()
	}
}

// AllNamespaces returns the namespaces of all pages.
func AllNamespaces(ctx context.Context, service client.Client) ([]*flipt.Namespace, error) {
	var all []*flipt.Namespace
	request := new(flipt.ListNamespaceRequest) // without a limit: as few pages as possible
	for {
		page, err := Call[flipt.NamespaceList](ctx, service, "/flipt.Flipt/ListNamespaces", request)
		if err != nil {
			return nil, err
		}
		all = append(all, page.GetNamespaces()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return all, nil
		}
	}
}

// AllSegments returns the summaries of all pages.
func AllSegments(
	ctx context.Context, service client.Client, request *guidonv1.ListSegmentSummariesRequest,
) ([]*guidonv1.SegmentSummary, error) {
	var segments []*guidonv1.SegmentSummary
	request.Sort, request.Limit = guidonv1.SegmentSort_KEY_SEGMENT_SORT, summaryPage
	for {
		page, err := Call[guidonv1.SegmentSummaryList](ctx, service, "/guidon.v1.CatalogService/ListSegmentSummaries", request)
		if err != nil {
			return nil, err
		}
		segments = append(segments, page.GetSegments()...)
		if page.NextOffset == nil {
			return segments, nil
		}
		request.Offset = page.GetNextOffset()
	}
}
