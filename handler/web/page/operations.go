package page

import (
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// The operations that pages run.
const (
	CreateNamespace Operation[*flipt.CreateNamespaceRequest, *flipt.Namespace]   = "/flipt.Flipt/CreateNamespace"
	DeleteNamespace Operation[*flipt.DeleteNamespaceRequest, *emptypb.Empty]     = "/flipt.Flipt/DeleteNamespace"
	GetNamespace    Operation[*flipt.GetNamespaceRequest, *flipt.Namespace]      = "/flipt.Flipt/GetNamespace"
	GetSegment      Operation[*flipt.GetSegmentRequest, *flipt.Segment]          = "/flipt.Flipt/GetSegment"
	ListFlags       Operation[*flipt.ListFlagRequest, *flipt.FlagList]           = "/flipt.Flipt/ListFlags"
	ListNamespaces  Operation[*flipt.ListNamespaceRequest, *flipt.NamespaceList] = "/flipt.Flipt/ListNamespaces"
	ListSegments    Operation[*flipt.ListSegmentRequest, *flipt.SegmentList]     = "/flipt.Flipt/ListSegments"
	UpdateNamespace Operation[*flipt.UpdateNamespaceRequest, *flipt.Namespace]   = "/flipt.Flipt/UpdateNamespace"

	CreateToken Operation[
		*auth.CreateTokenRequest, *auth.CreateTokenResponse,
	] = "/flipt.auth.AuthenticationMethodTokenService/CreateToken" // #nosec G101 -- a name

	DeleteAuthentication Operation[
		*auth.DeleteAuthenticationRequest, *emptypb.Empty,
	] = "/flipt.auth.AuthenticationService/DeleteAuthentication" // #nosec G101 -- a name
	GetAuthentication Operation[
		*auth.GetAuthenticationRequest, *auth.Authentication,
	] = "/flipt.auth.AuthenticationService/GetAuthentication" // #nosec G101 -- a name
	ListAuthentications Operation[
		*auth.ListAuthenticationsRequest, *auth.ListAuthenticationsResponse,
	] = "/flipt.auth.AuthenticationService/ListAuthentications" // #nosec G101 -- a name

	GetConfiguration Operation[*emptypb.Empty, *httpbody.HttpBody] = "/flipt.meta.MetadataService/GetConfiguration"
	GetServerInfo    Operation[*emptypb.Empty, *httpbody.HttpBody] = "/flipt.meta.MetadataService/GetInfo"

	CreateBinding         Operation[*guidonv1.CreateBindingRequest, *guidonv1.Binding]      = "/guidon.v1.AccessService/CreateBinding"
	DeleteAuthentications Operation[*guidonv1.DeleteAuthenticationsRequest, *emptypb.Empty] = "/guidon.v1.AccessService/DeleteAuthentications"
	DeleteBinding         Operation[*guidonv1.DeleteBindingRequest, *emptypb.Empty]         = "/guidon.v1.AccessService/DeleteBinding"
	ListBindings          Operation[*emptypb.Empty, *guidonv1.ListBindingsResponse]         = "/guidon.v1.AccessService/ListBindings"

	GetFlagReach     Operation[*guidonv1.GetFlagReachRequest, *guidonv1.FlagReach]       = "/guidon.v1.AnalysisService/GetFlagReach"
	GetFlagTimeline  Operation[*guidonv1.GetFlagTimelineRequest, *guidonv1.FlagTimeline] = "/guidon.v1.AnalysisService/GetFlagTimeline"
	GetSegmentUsage  Operation[*guidonv1.GetSegmentUsageRequest, *guidonv1.SegmentUsage] = "/guidon.v1.AnalysisService/GetSegmentUsage"
	ListFlagUses     Operation[*guidonv1.ListFlagUsesRequest, *guidonv1.FlagUseList]     = "/guidon.v1.AnalysisService/ListFlagUses"
	PreviewFlag      Operation[*guidonv1.PreviewFlagRequest, *guidonv1.FlagEffect]       = "/guidon.v1.AnalysisService/PreviewFlag"
	PreviewFlagReach Operation[*guidonv1.PreviewFlagRequest, *guidonv1.FlagReach]        = "/guidon.v1.AnalysisService/PreviewFlagReach"
	PreviewSegment   Operation[*guidonv1.PreviewSegmentRequest, *guidonv1.SegmentUsage]  = "/guidon.v1.AnalysisService/PreviewSegment"

	GetEvaluations     Operation[*guidonv1.GetEvaluationsRequest, *guidonv1.EvaluationTotals] = "/guidon.v1.AnalyticsService/GetEvaluations"
	GetFlagEvaluations Operation[
		*guidonv1.GetFlagEvaluationsRequest, *guidonv1.FlagEvaluations,
	] = "/guidon.v1.AnalyticsService/GetFlagEvaluations"

	ListFlagNamespaces Operation[
		*guidonv1.ListFlagNamespacesRequest, *guidonv1.FlagNamespaceList,
	] = "/guidon.v1.CatalogService/ListFlagNamespaces"
	ListFlagSummaries Operation[
		*guidonv1.ListFlagSummariesRequest, *guidonv1.FlagSummaryList,
	] = "/guidon.v1.CatalogService/ListFlagSummaries"
	ListProperties       Operation[*guidonv1.ListPropertiesRequest, *guidonv1.PropertyList] = "/guidon.v1.CatalogService/ListProperties"
	ListSegmentSummaries Operation[
		*guidonv1.ListSegmentSummariesRequest, *guidonv1.SegmentSummaryList,
	] = "/guidon.v1.CatalogService/ListSegmentSummaries"
	ListUnusedFlags Operation[*guidonv1.ListUnusedFlagsRequest, *guidonv1.UnusedFlagList] = "/guidon.v1.CatalogService/ListUnusedFlags"
	SearchAll       Operation[*guidonv1.SearchRequest, *guidonv1.SearchResponse]          = "/guidon.v1.CatalogService/Search"

	LatestChanges  Operation[*guidonv1.LatestChangesRequest, *guidonv1.LatestChangesResponse] = "/guidon.v1.ChangeService/LatestChanges"
	ListAllChanges Operation[*guidonv1.ListAllChangesRequest, *guidonv1.ListChangesResponse]  = "/guidon.v1.ChangeService/ListAllChanges"
	ListChanges    Operation[*guidonv1.ListChangesRequest, *guidonv1.ListChangesResponse]     = "/guidon.v1.ChangeService/ListChanges"

	CompareStates Operation[*guidonv1.CompareRequest, *guidonv1.CompareResponse] = "/guidon.v1.CompareService/Compare"

	ExportDocument Operation[*guidonv1.ExportRequest, *guidonv1.Document] = "/guidon.v1.DocumentService/Export"

	ControlRamp       Operation[*guidonv1.ControlRampRequest, *guidonv1.EditResponse]         = "/guidon.v1.EditService/ControlRamp"
	GetFlagContent    Operation[*guidonv1.GetFlagContentRequest, *guidonv1.FlagContent]       = "/guidon.v1.EditService/GetFlagContent"
	GetSegmentContent Operation[*guidonv1.GetSegmentContentRequest, *guidonv1.SegmentContent] = "/guidon.v1.EditService/GetSegmentContent"
	MergeFlag         Operation[*guidonv1.MergeFlagRequest, *guidonv1.FlagMerge]              = "/guidon.v1.EditService/MergeFlag"
	MergeSegment      Operation[*guidonv1.MergeSegmentRequest, *guidonv1.SegmentMerge]        = "/guidon.v1.EditService/MergeSegment"
	Patch             Operation[*guidonv1.PatchRequest, *guidonv1.EditResponse]               = "/guidon.v1.EditService/Patch"
	ReplaceFlag       Operation[*guidonv1.ReplaceFlagRequest, *guidonv1.EditResponse]         = "/guidon.v1.EditService/ReplaceFlag"
	ReplaceSegment    Operation[*guidonv1.ReplaceSegmentRequest, *guidonv1.EditResponse]      = "/guidon.v1.EditService/ReplaceSegment"
	TurnFlagOff       Operation[*guidonv1.SwitchFlagRequest, *guidonv1.EditResponse]          = "/guidon.v1.EditService/TurnFlagOff"
	TurnFlagOn        Operation[*guidonv1.SwitchFlagRequest, *guidonv1.EditResponse]          = "/guidon.v1.EditService/TurnFlagOn"

	ExplainFlag    Operation[*guidonv1.ExplainRequest, *guidonv1.ExplainResponse]               = "/guidon.v1.ExplainService/Explain"
	ExplainFlags   Operation[*guidonv1.ExplainFlagsRequest, *guidonv1.ExplainFlagsResponse]     = "/guidon.v1.ExplainService/ExplainFlags"
	ExplainSegment Operation[*guidonv1.ExplainSegmentRequest, *guidonv1.ExplainSegmentResponse] = "/guidon.v1.ExplainService/ExplainSegment"

	ApplyPlan Operation[*guidonv1.ApplyRequest, *guidonv1.PlanResponse] = "/guidon.v1.PlanService/Apply"
	MakePlan  Operation[*guidonv1.PlanRequest, *guidonv1.PlanResponse]  = "/guidon.v1.PlanService/Plan"

	DeleteSession Operation[*guidonv1.DeleteSessionRequest, *emptypb.Empty] = "/guidon.v1.SessionService/DeleteSession"
	ListSessions  Operation[*emptypb.Empty, *guidonv1.ListSessionsResponse] = "/guidon.v1.SessionService/ListSessions"

	CreateWebhook       Operation[*guidonv1.CreateWebhookRequest, *guidonv1.Webhook]              = "/guidon.v1.WebhookService/CreateWebhook"
	DeleteWebhook       Operation[*guidonv1.WebhookRequest, *emptypb.Empty]                       = "/guidon.v1.WebhookService/DeleteWebhook"
	GetWebhook          Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/GetWebhook"
	ListDeliveries      Operation[*guidonv1.ListDeliveriesRequest, *guidonv1.WebhookDeliveryList] = "/guidon.v1.WebhookService/ListDeliveries"
	ListWebhooks        Operation[*guidonv1.ListWebhooksRequest, *guidonv1.WebhookList]           = "/guidon.v1.WebhookService/ListWebhooks"
	PauseWebhook        Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/PauseWebhook"
	ReplayWebhook       Operation[*guidonv1.ReplayWebhookRequest, *guidonv1.Webhook]              = "/guidon.v1.WebhookService/ReplayWebhook"
	ResumeWebhook       Operation[*guidonv1.WebhookRequest, *guidonv1.Webhook]                    = "/guidon.v1.WebhookService/ResumeWebhook"
	RotateWebhookSecret Operation[
		*guidonv1.RotateWebhookSecretRequest, *guidonv1.Webhook,
	] = "/guidon.v1.WebhookService/RotateWebhookSecret" // #nosec G101 -- a name
	TestWebhook   Operation[*guidonv1.WebhookRequest, *guidonv1.WebhookDelivery] = "/guidon.v1.WebhookService/TestWebhook"
	UpdateWebhook Operation[*guidonv1.UpdateWebhookRequest, *guidonv1.Webhook]   = "/guidon.v1.WebhookService/UpdateWebhook"
)
