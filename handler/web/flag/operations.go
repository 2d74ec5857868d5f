package flag

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const (
	getFlagContent     page.Operation[*guidonv1.GetFlagContentRequest, *guidonv1.FlagContent]           = "/guidon.v1.EditService/GetFlagContent"
	getSegmentContent  page.Operation[*guidonv1.GetSegmentContentRequest, *guidonv1.SegmentContent]     = "/guidon.v1.EditService/GetSegmentContent"
	listSegments       page.Operation[*flipt.ListSegmentRequest, *flipt.SegmentList]                    = "/flipt.Flipt/ListSegments"
	listFlags          page.Operation[*flipt.ListFlagRequest, *flipt.FlagList]                          = "/flipt.Flipt/ListFlags"
	replaceFlag        page.Operation[*guidonv1.ReplaceFlagRequest, *guidonv1.EditResponse]             = "/guidon.v1.EditService/ReplaceFlag"
	mergeFlag          page.Operation[*guidonv1.MergeFlagRequest, *guidonv1.FlagMerge]                  = "/guidon.v1.EditService/MergeFlag"
	turnFlagOff        page.Operation[*guidonv1.SwitchFlagRequest, *guidonv1.EditResponse]              = "/guidon.v1.EditService/TurnFlagOff"
	turnFlagOn         page.Operation[*guidonv1.SwitchFlagRequest, *guidonv1.EditResponse]              = "/guidon.v1.EditService/TurnFlagOn"
	controlRamp        page.Operation[*guidonv1.ControlRampRequest, *guidonv1.EditResponse]             = "/guidon.v1.EditService/ControlRamp"
	patch              page.Operation[*guidonv1.PatchRequest, *guidonv1.EditResponse]                   = "/guidon.v1.EditService/Patch"
	getFlagReach       page.Operation[*guidonv1.GetFlagReachRequest, *guidonv1.FlagReach]               = "/guidon.v1.AnalysisService/GetFlagReach"
	previewFlagReach   page.Operation[*guidonv1.PreviewFlagRequest, *guidonv1.FlagReach]                = "/guidon.v1.AnalysisService/PreviewFlagReach"
	previewFlag        page.Operation[*guidonv1.PreviewFlagRequest, *guidonv1.FlagEffect]               = "/guidon.v1.AnalysisService/PreviewFlag"
	listFlagUses       page.Operation[*guidonv1.ListFlagUsesRequest, *guidonv1.FlagUseList]             = "/guidon.v1.AnalysisService/ListFlagUses"
	getFlagTimeline    page.Operation[*guidonv1.GetFlagTimelineRequest, *guidonv1.FlagTimeline]         = "/guidon.v1.AnalysisService/GetFlagTimeline"
	latestChanges      page.Operation[*guidonv1.LatestChangesRequest, *guidonv1.LatestChangesResponse]  = "/guidon.v1.ChangeService/LatestChanges"
	listFlagNamespaces page.Operation[*guidonv1.ListFlagNamespacesRequest, *guidonv1.FlagNamespaceList] = "/guidon.v1.CatalogService/ListFlagNamespaces"
	listSummaries      page.Operation[*guidonv1.ListFlagSummariesRequest, *guidonv1.FlagSummaryList]    = "/guidon.v1.CatalogService/ListFlagSummaries"
)
