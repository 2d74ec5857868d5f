package management

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

func enums[T ~uint8, W ~int32](numbers []W) []T {
	return lists.Map(numbers, func(n W) T { return convert.Enum[T](n) })
}

// dated returns the response. That of an earlier state has a tag for what depends on the time
// besides the state: which review dates have passed.
func dated(v service.View, request *call.Request, m proto.Message) call.Response {
	response := call.Response{Message: m}
	if request.OfPast() {
		response.ETag = strconv.Itoa(v.Overdue())
	}
	return response
}

func flagQuery(m *guidonv1.ListFlagSummariesRequest) *service.FlagQuery {
	return &service.FlagQuery{
		Text: m.GetQuery(), States: enums[analysis.FlagState](m.GetStates()), Types: enums[guidon.FlagType](m.GetTypes()),
		Owners: m.GetOwners(), Tags: m.GetTags(), Segments: m.GetSegments(), Keys: m.GetKeys(),
		Sort: convert.Enum[service.FlagSort](m.GetSort()), Descending: m.GetDescending(), Window: convert.Window(m),
	}
}

// CheckFlagSummaries checks the query.
func CheckFlagSummaries(m *guidonv1.ListFlagSummariesRequest) error { return flagQuery(m).Validate() }

// ListFlagSummaries lists flags for people who search.
func ListFlagSummaries(_ context.Context, v service.View, m *guidonv1.ListFlagSummariesRequest, request *call.Request) (call.Response, error) {
	list, err := v.FlagSummaries(*flagQuery(m))
	if err != nil {
		return call.Response{}, err
	}
	segmentName := func(key string) string {
		if g := v.Snapshot.Segment(key); g != nil {
			return g.Name
		}
		return ""
	}
	return dated(v, request, &guidonv1.FlagSummaryList{
		Flags:      lists.Map(list.Flags, func(s service.FlagSummary) *guidonv1.FlagSummary { return convert.FlagSummary(&s) }),
		TotalCount: convert.Count(list.Total), NamespaceCount: convert.Count(list.All), NextOffset: convert.NextOffset(m, list.Total),
		Facets: convert.FlagFacets(&list.Facets, segmentName),
		Suggestions: lists.Map(list.Suggestions, func(f *guidon.Flag) *guidonv1.FlagSuggestion {
			return &guidonv1.FlagSuggestion{Key: f.Key, Name: f.Name}
		}),
	}), nil
}

func segmentQuery(m *guidonv1.ListSegmentSummariesRequest) *service.SegmentQuery {
	return &service.SegmentQuery{
		Text: m.GetQuery(), Sort: convert.Enum[service.SegmentSort](m.GetSort()), Descending: m.GetDescending(), Window: convert.Window(m),
	}
}

// CheckSegmentSummaries checks the query.
func CheckSegmentSummaries(m *guidonv1.ListSegmentSummariesRequest) error {
	return segmentQuery(m).Validate()
}

// ListSegmentSummaries lists segments for people who search.
func ListSegmentSummaries(_ context.Context, v service.View, m *guidonv1.ListSegmentSummariesRequest) (*guidonv1.SegmentSummaryList, error) {
	list, err := v.SegmentSummaries(*segmentQuery(m))
	if err != nil {
		return nil, err
	}
	return &guidonv1.SegmentSummaryList{
		Segments:   lists.Map(list.Segments, convert.SegmentSummary),
		TotalCount: convert.Count(list.Total), NamespaceCount: convert.Count(list.All), NextOffset: convert.NextOffset(m, list.Total),
	}, nil
}

func unusedQuery(m *guidonv1.ListUnusedFlagsRequest) *service.UnusedQuery {
	return &service.UnusedQuery{
		Reasons: enums[service.UnusedKind](m.GetReasons()), AfterDays: int(m.GetAfterDays()), Window: convert.Window(m),
	}
}

// CheckUnusedFlags checks the query.
func CheckUnusedFlags(m *guidonv1.ListUnusedFlagsRequest) error { return unusedQuery(m).Validate() }

// ListUnusedFlags lists the flags that may no longer be needed.
func ListUnusedFlags(
	ctx context.Context, v service.View, m *guidonv1.ListUnusedFlagsRequest, request *call.Request,
) (call.Response, error) {
	list, err := v.UnusedFlags(ctx, *unusedQuery(m))
	if err != nil {
		return call.Response{}, err
	}
	return dated(v, request, &guidonv1.UnusedFlagList{
		Flags:      lists.Map(list.Flags, convert.UnusedFlag),
		TotalCount: convert.Count(list.Total), NextOffset: convert.NextOffset(m, list.Total), SnoozedCount: convert.Count(list.Snoozed),
	}), nil
}

func propertyQuery(m *guidonv1.ListPropertiesRequest) *service.PropertyQuery {
	return &service.PropertyQuery{Prefix: m.GetPrefix(), Limit: m.GetLimit()}
}

// CheckProperties checks the query.
func CheckProperties(m *guidonv1.ListPropertiesRequest) error { return propertyQuery(m).Validate() }

// ListProperties lists the properties that constraints compare.
func ListProperties(_ context.Context, v service.View, m *guidonv1.ListPropertiesRequest) (*guidonv1.PropertyList, error) {
	properties, total, err := v.Properties(*propertyQuery(m))
	if err != nil {
		return nil, err
	}
	return &guidonv1.PropertyList{Properties: lists.Map(properties, convert.Property), TotalCount: convert.Count(total)}, nil
}

// GetCatalogCounts returns how many flags and segments there are.
func GetCatalogCounts(_ context.Context, v service.View, _ *guidonv1.GetCatalogCountsRequest, request *call.Request) (call.Response, error) {
	n := v.CatalogCounts()
	return dated(v, request, &guidonv1.CatalogCounts{
		Flags: convert.Count(n.Flags), Segments: convert.Count(n.Segments), Unused: convert.Count(n.Unused),
	}), nil
}

// ListFlagNamespaces returns what a flag is in each namespace that the caller may view.
func ListFlagNamespaces(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ListFlagNamespacesRequest,
) (*guidonv1.FlagNamespaceList, error) {
	found, page, err := s.FlagNamespaces(ctx, c.Caller, c.Demand, m.GetKey(), m.GetReference(), convert.Page(m))
	if err != nil {
		return nil, err
	}
	return &guidonv1.FlagNamespaceList{
		Namespaces: lists.Map(found, convert.FlagNamespace), NextPageToken: page.NextToken, TotalCount: convert.Count(page.Total),
	}, nil
}

func searchQuery(m *guidonv1.SearchRequest) *service.SearchQuery {
	return &service.SearchQuery{Text: m.GetQuery(), Namespace: m.GetNamespaceKey(), Limit: m.GetLimit()}
}

// CheckSearch checks the query.
func CheckSearch(m *guidonv1.SearchRequest) error { return searchQuery(m).Validate() }

// Search finds objects in all namespaces that the caller may view.
func Search(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.SearchRequest) (*guidonv1.SearchResponse, error) {
	r, err := s.Search(ctx, c.Caller, c.Demand, *searchQuery(m))
	if err != nil {
		return nil, err
	}
	group := func(kind service.SearchKind) *guidonv1.SearchGroup { return convert.SearchGroup(r.Groups[kind]) }
	return &guidonv1.SearchResponse{
		Flags: group(service.SearchFlags), Segments: group(service.SearchSegments), Owners: group(service.SearchOwners),
		Tags: group(service.SearchTags), Namespaces: group(service.SearchNamespaces),
		SearchedNamespaces: convert.Count(r.Namespaces), Limited: r.Limited,
	}, nil
}
