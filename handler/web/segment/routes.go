package segment

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The operations that the pages run.
const (
	getContent     page.Operation[*guidonv1.GetSegmentContentRequest, *guidonv1.SegmentContent]        = "/guidon.v1.EditService/GetSegmentContent"
	replaceSegment page.Operation[*guidonv1.ReplaceSegmentRequest, *guidonv1.EditResponse]             = "/guidon.v1.EditService/ReplaceSegment"
	mergeSegment   page.Operation[*guidonv1.MergeSegmentRequest, *guidonv1.SegmentMerge]               = "/guidon.v1.EditService/MergeSegment"
	patch          page.Operation[*guidonv1.PatchRequest, *guidonv1.EditResponse]                      = "/guidon.v1.EditService/Patch"
	getUsage       page.Operation[*guidonv1.GetSegmentUsageRequest, *guidonv1.SegmentUsage]            = "/guidon.v1.AnalysisService/GetSegmentUsage"
	preview        page.Operation[*guidonv1.PreviewSegmentRequest, *guidonv1.SegmentUsage]             = "/guidon.v1.AnalysisService/PreviewSegment"
	explain        page.Operation[*guidonv1.ExplainSegmentRequest, *guidonv1.ExplainSegmentResponse]   = "/guidon.v1.ExplainService/ExplainSegment"
	latestChanges  page.Operation[*guidonv1.LatestChangesRequest, *guidonv1.LatestChangesResponse]     = "/guidon.v1.ChangeService/LatestChanges"
	listSummaries  page.Operation[*guidonv1.ListSegmentSummariesRequest, *guidonv1.SegmentSummaryList] = "/guidon.v1.CatalogService/ListSegmentSummaries"
	listFlags      page.Operation[*guidonv1.ListFlagSummariesRequest, *guidonv1.FlagSummaryList]       = "/guidon.v1.CatalogService/ListFlagSummaries"
	listProperties page.Operation[*guidonv1.ListPropertiesRequest, *guidonv1.PropertyList]             = "/guidon.v1.CatalogService/ListProperties"
)

// kindSegment is the kind of segments in change records.
const kindSegment = "segment"

// Routes returns the pages of segments.
func Routes(*page.Site) []page.Route {
	const one = "/namespaces/{namespace}/segments/{segment}"
	return []page.Route{
		{Pattern: "/namespaces/{namespace}/segments", Get: showList, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/new-segment", Get: showNew, Post: postNew, Unchanging: true},
		{Pattern: one, Get: showSegment, Post: postSegment, Unchanging: true},
		{Pattern: one + "/used-by", Get: showUses, Unchanging: true},
		{Pattern: one + "/delete", Get: askDelete, Post: postDelete, Unchanging: true},
	}
}
