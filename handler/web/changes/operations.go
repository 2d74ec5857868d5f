package changes

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The operations that the pages run.
const (
	listChanges    page.Operation[*guidonv1.ListChangesRequest, *guidonv1.ListChangesResponse]    = "/guidon.v1.ChangeService/ListChanges"
	listAllChanges page.Operation[*guidonv1.ListAllChangesRequest, *guidonv1.ListChangesResponse] = "/guidon.v1.ChangeService/ListAllChanges"
	makePlan       page.Operation[*guidonv1.PlanRequest, *guidonv1.PlanResponse]                  = "/guidon.v1.PlanService/Plan"
	getFlag        page.Operation[*flipt.GetFlagRequest, *flipt.Flag]                             = "/flipt.Flipt/GetFlag"
	getSegment     page.Operation[*flipt.GetSegmentRequest, *flipt.Segment]                       = "/flipt.Flipt/GetSegment"
	flagContent    page.Operation[*guidonv1.GetFlagContentRequest, *guidonv1.FlagContent]         = "/guidon.v1.EditService/GetFlagContent"
	segmentContent page.Operation[*guidonv1.GetSegmentContentRequest, *guidonv1.SegmentContent]   = "/guidon.v1.EditService/GetSegmentContent"
	previewFlag    page.Operation[*guidonv1.PreviewFlagRequest, *guidonv1.FlagEffect]             = "/guidon.v1.AnalysisService/PreviewFlag"
	previewSegment page.Operation[*guidonv1.PreviewSegmentRequest, *guidonv1.SegmentUsage]        = "/guidon.v1.AnalysisService/PreviewSegment"
)
