package handler

import (
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/management"
	"github.com/guidonhq/guidon/handler/ofrep"
	"github.com/guidonhq/guidon/handler/plan"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/handler/wire/analytics"
	wireauth "github.com/guidonhq/guidon/handler/wire/auth"
	wire "github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Prefixes of paths.
const (
	apiPrefix       = "/api/v1"
	namespacePrefix = apiPrefix + "/namespaces/{namespace_key}"
	authPrefix      = "/auth/v1"
	evaluatePrefix  = "/evaluate/v1"
	internalPrefix  = "/internal/v1"
	metaPrefix      = "/meta"
	webhooksPrefix  = apiPrefix + "/webhooks"
)

// prefixes are the parts of the path under which an unknown path gets an error of the API
// (contract 1.6).
var prefixes = []exchange.Prefix{
	{Path: apiPrefix, Errors: exchange.Messages, TrailingSlash: true},
	{Path: authPrefix, Errors: exchange.Messages, TrailingSlash: true, ForgetSession: true},
	{Path: evaluatePrefix, Errors: exchange.Messages, TrailingSlash: true},
	{Path: internalPrefix, Errors: exchange.Messages, TrailingSlash: true},
	{Path: metaPrefix, Errors: exchange.Messages, TrailingSlash: true},
	{Path: diagnostics.HealthPath, Errors: exchange.Messages},
	// OFREP 1 and 10
	{Path: ofrep.Prefix, Errors: ofrep.Form, TrailingSlash: true, LeadingSlash: true, Preflight: http.StatusNoContent},
}

// Short names for the table.
const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	del    = http.MethodDelete
	manage = call.AreaManagement
	hooks  = call.AreaWebhooks
	eval   = call.AreaEvaluation
	authn  = call.AreaAuthentication
)

// rows returns the table of all operations (contract 3 and 12). tick is the clock that
// durations are measured with.
func rows(config Config, invoker *call.Invoker, tick func() time.Time) []exchange.Row {
	evaluator := evaluation.NewEvaluator(config.Evaluations, config.Now, tick)
	protocol := ofrep.NewProtocol(evaluator, config.Streams, invoker.Protects(call.AreaOFREP), config.Now, tick)
	methods := auth.Methods{Token: config.Authentication.TokenMethod, SignIn: config.SignIn}
	instance := diagnostics.NewInstance(config.Info, config.Configuration, diagnostics.Mode{
		AuthenticationRequired: config.Authentication.Required, ReadOnly: config.ReadOnly, UI: config.UI,
	})
	sessions := auth.Sessions{
		Cookie: config.Session, Lifetime: config.Session.Lifetime, Most: config.MaxSessions,
		NextURI: config.SignIn.NextURI,
	}
	streams := config.Streams != nil

	table := inMessages(
		// Namespaces.
		call.Ask[flipt.NamespaceList]("/flipt.Flipt/ListNamespaces", manage, only(get, apiPrefix+"/namespaces"),
			management.ListNamespaces).Light().ForEveryIdentity(),
		call.Change("/flipt.Flipt/CreateNamespace", manage, only(post, apiPrefix+"/namespaces"),
			management.CreateNamespace).Needing(service.RoleAdmin),
		call.List[flipt.Namespace]("/flipt.Flipt/GetNamespace", manage,
			only(get, apiPrefix+"/namespaces/{key}"), management.GetNamespace).With(call.Existing),
		call.Change("/flipt.Flipt/UpdateNamespace", manage, only(put, apiPrefix+"/namespaces/{key}"),
			management.UpdateNamespace).Needing(service.RoleAdmin),
		call.Change("/flipt.Flipt/DeleteNamespace", manage, only(del, apiPrefix+"/namespaces/{key}"),
			management.DeleteNamespace).Needing(service.RoleAdmin),

		// Flags and variants.
		call.List[flipt.FlagList]("/flipt.Flipt/ListFlags", manage, both(get, "/flags"),
			management.ListFlags, management.CheckPage),
		call.Change("/flipt.Flipt/CreateFlag", manage, both(post, "/flags"), management.CreateFlag),
		call.Read("/flipt.Flipt/GetFlag", manage, both(get, "/flags/{key}"), management.GetFlag, management.CheckKey),
		call.Change("/flipt.Flipt/UpdateFlag", manage, both(put, "/flags/{key}"), management.UpdateFlag),
		call.Change("/flipt.Flipt/DeleteFlag", manage, both(del, "/flags/{key}"), management.DeleteFlag),
		call.Change("/flipt.Flipt/CreateVariant", manage, both(post, "/flags/{flag_key}/variants"),
			management.CreateVariant),
		call.Change("/flipt.Flipt/UpdateVariant", manage, both(put, "/flags/{flag_key}/variants/{id}"),
			management.UpdateVariant),
		call.Change("/flipt.Flipt/DeleteVariant", manage, both(del, "/flags/{flag_key}/variants/{id}"),
			management.DeleteVariant),

		// Rules and distributions.
		call.List[flipt.RuleList]("/flipt.Flipt/ListRules", manage, both(get, "/flags/{flag_key}/rules"),
			management.ListRules, management.CheckRules),
		call.Change("/flipt.Flipt/CreateRule", manage, both(post, "/flags/{flag_key}/rules"), management.CreateRule),
		call.Change("/flipt.Flipt/OrderRules", manage, both(put, "/flags/{flag_key}/rules/order"),
			management.OrderRules),
		call.Read("/flipt.Flipt/GetRule", manage, both(get, "/flags/{flag_key}/rules/{id}"),
			management.GetRule, management.CheckRule),
		call.Change("/flipt.Flipt/UpdateRule", manage, both(put, "/flags/{flag_key}/rules/{id}"),
			management.UpdateRule),
		call.Change("/flipt.Flipt/DeleteRule", manage, both(del, "/flags/{flag_key}/rules/{id}"),
			management.DeleteRule),
		call.Change("/flipt.Flipt/CreateDistribution", manage,
			both(post, "/flags/{flag_key}/rules/{rule_id}/distributions"), management.CreateDistribution),
		call.Change("/flipt.Flipt/UpdateDistribution", manage,
			both(put, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), management.UpdateDistribution),
		call.Change("/flipt.Flipt/DeleteDistribution", manage,
			both(del, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), management.DeleteDistribution),

		// Rollouts.
		call.List[flipt.RolloutList]("/flipt.Flipt/ListRollouts", manage, within(get, "/flags/{flag_key}/rollouts"),
			management.ListRollouts, management.CheckRollouts),
		call.Change("/flipt.Flipt/CreateRollout", manage, within(post, "/flags/{flag_key}/rollouts"),
			management.CreateRollout),
		call.Change("/flipt.Flipt/OrderRollouts", manage, within(put, "/flags/{flag_key}/rollouts/order"),
			management.OrderRollouts),
		call.Read("/flipt.Flipt/GetRollout", manage, within(get, "/flags/{flag_key}/rollouts/{id}"),
			management.GetRollout),
		call.Change("/flipt.Flipt/UpdateRollout", manage, within(put, "/flags/{flag_key}/rollouts/{id}"),
			management.UpdateRollout),
		call.Change("/flipt.Flipt/DeleteRollout", manage, within(del, "/flags/{flag_key}/rollouts/{id}"),
			management.DeleteRollout),

		// Segments and constraints.
		call.List[flipt.SegmentList]("/flipt.Flipt/ListSegments", manage, both(get, "/segments"),
			management.ListSegments, management.CheckPage),
		call.Change("/flipt.Flipt/CreateSegment", manage, both(post, "/segments"), management.CreateSegment),
		call.Read("/flipt.Flipt/GetSegment", manage, both(get, "/segments/{key}"),
			management.GetSegment, management.CheckKey),
		call.Change("/flipt.Flipt/UpdateSegment", manage, both(put, "/segments/{key}"), management.UpdateSegment),
		call.Change("/flipt.Flipt/DeleteSegment", manage, both(del, "/segments/{key}"), management.DeleteSegment),
		call.Change("/flipt.Flipt/CreateConstraint", manage, both(post, "/segments/{segment_key}/constraints"),
			management.CreateConstraint),
		call.Change("/flipt.Flipt/UpdateConstraint", manage, both(put, "/segments/{segment_key}/constraints/{id}"),
			management.UpdateConstraint),
		call.Change("/flipt.Flipt/DeleteConstraint", manage, both(del, "/segments/{segment_key}/constraints/{id}"),
			management.DeleteConstraint),

		// Evaluation. The legacy calls belong to the management service and are exempt
		// from authentication if that is (operations 1.2).
		call.Ask[wire.VariantEvaluationResponse]("/flipt.evaluation.EvaluationService/Variant", eval,
			only(post, evaluatePrefix+"/variant"),
			evaluator.Variant).Light().With(call.ServesStale).Reusing(evaluation.TakeRequest, evaluation.ReleaseRequest).
			Needing(service.RoleEvaluator),
		call.Ask[wire.BooleanEvaluationResponse]("/flipt.evaluation.EvaluationService/Boolean", eval,
			only(post, evaluatePrefix+"/boolean"),
			evaluator.Boolean).Light().With(call.ServesStale).Reusing(evaluation.TakeRequest, evaluation.ReleaseRequest).
			Needing(service.RoleEvaluator),
		call.Ask[wire.BatchEvaluationResponse]("/flipt.evaluation.EvaluationService/Batch", eval,
			only(post, evaluatePrefix+"/batch"), evaluator.Batch).Light().With(call.ServesStale).Needing(service.RoleEvaluator),
		call.List[wire.EvaluationNamespaceSnapshot]("/flipt.evaluation.DataService/EvaluationSnapshotNamespace", eval,
			only(get, internalPrefix+"/evaluation/snapshot/namespace/{key}"),
			evaluator.Snapshot).With(call.Versioned|call.ServesStale).Needing(service.RoleClient),
		call.Ask[flipt.EvaluationResponse]("/flipt.Flipt/Evaluate", manage, both(post, "/evaluate"), evaluator.Legacy).
			Light().With(call.ServesStale|call.Evaluates).Needing(service.RoleEvaluator),
		call.Ask[flipt.BatchEvaluationResponse]("/flipt.Flipt/BatchEvaluate", manage, both(post, "/batch-evaluate"),
			evaluator.LegacyBatch).Light().With(call.ServesStale|call.Evaluates).Needing(service.RoleEvaluator),

		// Changes and documents: not part of Flipt v1.
		call.Ask[guidonv1.ListChangesResponse]("/guidon.v1.ChangeService/ListChanges", manage, within(get, "/changes"),
			management.ListChanges).Heavy().Needing(service.RoleViewer),
		call.Ask[guidonv1.ListChangesResponse]("/guidon.v1.ChangeService/ListAllChanges", manage, only(get, apiPrefix+"/changes"),
			management.ListAllChanges).Heavy().ForEveryIdentity(),
		call.Ask[guidonv1.LatestChangesResponse]("/guidon.v1.ChangeService/LatestChanges", manage,
			within(get, "/changes/latest"),
			management.LatestChanges).Heavy().LightIf(management.FewLatestChanges).Needing(service.RoleViewer),
		call.Ask[guidonv1.ImportResponse]("/guidon.v1.DocumentService/Import", manage, within(post, "/import"),
			management.ImportDocument).Heavy().With(call.Writes).
			Large(management.DocumentLimits, management.LongDocument(config.ImportMemory, management.InParts)).Needing(service.RoleEditor),
		call.List[guidonv1.Document]("/guidon.v1.DocumentService/Export", manage, within(get, "/export"),
			management.ExportDocument).With(call.Existing).Heavy(),

		// Edits of whole flags and segments: not part of Flipt v1.
		call.Read("/guidon.v1.EditService/GetFlagContent", manage, within(get, "/flags/{key}/content"),
			management.GetFlagContent, management.CheckKey),
		call.Read("/guidon.v1.EditService/GetSegmentContent", manage, within(get, "/segments/{key}/content"),
			management.GetSegmentContent, management.CheckKey),
		call.Change("/guidon.v1.EditService/ReplaceFlag", manage, within(put, "/flags/{key}/content"),
			management.ReplaceFlag),
		call.Change("/guidon.v1.EditService/ReplaceSegment", manage, within(put, "/segments/{key}/content"),
			management.ReplaceSegment),
		call.Change("/guidon.v1.EditService/TurnFlagOff", manage, within(post, "/flags/{key}/off"),
			management.TurnFlagOff, management.CheckTurnFlagOff),
		call.Change("/guidon.v1.EditService/TurnFlagOn", manage, within(post, "/flags/{key}/on"),
			management.TurnFlagOn),
		call.Change("/guidon.v1.EditService/ControlRamp", manage, within(post, "/flags/{key}/ramp"),
			management.ControlRamp),
		call.Ask[guidonv1.FlagMerge]("/guidon.v1.EditService/MergeFlag", manage, within(post, "/flags/{key}/merge"),
			management.MergeFlag).Heavy().Needing(service.RoleViewer),
		call.Ask[guidonv1.SegmentMerge]("/guidon.v1.EditService/MergeSegment", manage,
			within(post, "/segments/{key}/merge"), management.MergeSegment).Heavy().Needing(service.RoleViewer),
		call.Change("/guidon.v1.EditService/Patch", manage, within(post, "/patch"), management.Patch),
		// Plans: not part of Flipt v1.
		call.Ask[guidonv1.PlanResponse]("/guidon.v1.PlanService/Plan", manage, within(post, "/plan"), plan.Plan).
			Heavy().Large(management.DocumentLimits, management.LongDocument(config.ImportMemory, plan.InParts)).
			Needing(service.RoleViewer),
		call.Ask[guidonv1.PlanResponse]("/guidon.v1.PlanService/Apply", manage, within(post, "/apply"), plan.Apply).
			Heavy().With(call.Writes).
			Large(management.DocumentLimits, management.LongDocument(config.ImportMemory, plan.InParts)).
			Needing(service.RoleEditor),

		// What follows from the content of flags and segments: not part of Flipt v1.
		call.Read("/guidon.v1.AnalysisService/GetSegmentUsage", manage, within(get, "/segments/{key}/usage"),
			management.GetSegmentUsage, management.CheckKey).Heavy(),
		call.Read("/guidon.v1.AnalysisService/PreviewSegment", manage, within(post, "/segments/{key}/effect"),
			management.PreviewSegment, management.CheckPreviewSegment).Heavy(),
		call.Read("/guidon.v1.AnalysisService/PreviewFlag", manage, within(post, "/flags/{key}/effect"),
			management.PreviewFlag, management.CheckPreviewFlag).Heavy(),
		call.Read("/guidon.v1.AnalysisService/GetFlagReach", manage, within(get, "/flags/{key}/reach"),
			management.GetFlagReach, management.CheckKey).Heavy(),
		call.Read("/guidon.v1.AnalysisService/GetFlagTimeline", manage, within(get, "/flags/{key}/timeline"),
			management.GetFlagTimeline, management.CheckKey).Heavy(),
		call.Read("/guidon.v1.AnalysisService/ListFlagUses", manage, within(get, "/flags/{key}/usage"),
			management.ListFlagUses, management.CheckKey).Heavy(),
		// How often flags were evaluated: not part of Flipt v1, except the last one.
		call.Ask[guidonv1.FlagEvaluations]("/guidon.v1.AnalyticsService/GetFlagEvaluations", manage,
			within(get, "/flags/{key}/evaluations"), management.GetFlagEvaluations, management.CheckKey).Heavy().Needing(service.RoleViewer),
		call.Ask[guidonv1.EvaluationTotals]("/guidon.v1.AnalyticsService/GetEvaluations", manage,
			within(get, "/evaluations"), management.GetEvaluations).Heavy().Needing(service.RoleViewer),
		call.Ask[emptypb.Empty]("/guidon.v1.AnalyticsService/ReportEvaluations", manage, within(post, "/evaluations"),
			management.ReportEvaluations).Light().With(call.Reports).Needing(service.RoleClient),
		call.Ask[analytics.GetFlagEvaluationsCountResponse]("/flipt.analytics.AnalyticsService/GetFlagEvaluationsCount", call.AreaMeta,
			only(get, internalPrefix+"/analytics/namespaces/{namespace_key}/flags/{flag_key}"), management.GetFlagEvaluationsCount).
			Heavy().Needing(service.RoleViewer),
		// Lists and the search as people use them: not part of Flipt v1.
		call.List[guidonv1.FlagSummaryList]("/guidon.v1.CatalogService/ListFlagSummaries", manage,
			within(get, "/catalog/flags"), management.ListFlagSummaries, management.CheckFlagSummaries),
		call.Read("/guidon.v1.CatalogService/ListSegmentSummaries", manage, within(get, "/catalog/segments"),
			management.ListSegmentSummaries, management.CheckSegmentSummaries),
		call.List[guidonv1.UnusedFlagList]("/guidon.v1.CatalogService/ListUnusedFlags", manage,
			within(get, "/catalog/unused"), management.ListUnusedFlags, management.CheckUnusedFlags),
		call.Read("/guidon.v1.CatalogService/ListProperties", manage, within(get, "/catalog/properties"),
			management.ListProperties, management.CheckProperties),
		call.List[guidonv1.CatalogCounts]("/guidon.v1.CatalogService/GetCatalogCounts", manage,
			within(get, "/catalog/counts"), management.GetCatalogCounts),
		call.Inform("/guidon.v1.CatalogService/Search", manage, only(get, apiPrefix+"/search"),
			management.Search, management.CheckSearch).ForEveryIdentity(),
		call.Inform("/guidon.v1.CatalogService/ListFlagNamespaces", manage, only(get, apiPrefix+"/flags/{key}/namespaces"),
			management.ListFlagNamespaces, management.CheckKey).ForEveryIdentity(),

		call.Read("/guidon.v1.AnalysisService/PreviewFlagReach", manage, within(post, "/flags/{key}/reach"),
			management.PreviewFlagReach, management.CheckPreviewFlagReach).Heavy(),
		// Explanations: not part of Flipt v1.
		call.Read("/guidon.v1.ExplainService/Explain", manage, within(post, "/flags/{key}/explain"),
			evaluator.Explain, evaluation.CheckExplain).Heavy(),
		call.Read("/guidon.v1.ExplainService/ExplainBatch", manage, within(post, "/flags/{key}/explain/batch"),
			evaluator.ExplainBatch, evaluation.CheckExplainBatch).Heavy(),
		call.Read("/guidon.v1.ExplainService/ExplainSegment", manage, within(post, "/segments/{key}/explain"),
			evaluation.ExplainSegment, evaluation.CheckExplainSegment).Heavy(),
		call.Read("/guidon.v1.ExplainService/ExplainFlags", manage, within(post, "/explain"),
			evaluation.ExplainFlags, evaluation.CheckExplainFlags).Heavy(),

		// States and the differences between them: not part of Flipt v1.
		call.ReadPair("/guidon.v1.CompareService/Compare", within(get, "/compare"), plan.Compare, plan.CheckCompare),

		// Authentication. ExpireAuthenticationSelf has its time in the query (contract
		// 10.4).
		call.Inform("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", call.AreaPublic,
			only(get, authPrefix+"/method"), methods.List).With(call.Private).ForEveryIdentity(),
		call.Issue("/flipt.auth.AuthenticationMethodTokenService/CreateToken", only(post, authPrefix+"/method/token"),
			auth.CreateToken).EnabledIf(config.Authentication.TokenMethod),
		call.Inform("/flipt.auth.AuthenticationService/ListAuthentications", authn, only(get, authPrefix+"/tokens"),
			auth.ListAuthentications).NeedingEverywhere(service.RoleAdmin),
		call.Inform("/flipt.auth.AuthenticationService/GetAuthentication", authn, only(get, authPrefix+"/tokens/{id}"),
			auth.GetAuthentication).NeedingEverywhere(service.RoleAdmin),
		call.Issue("/flipt.auth.AuthenticationService/DeleteAuthentication", only(del, authPrefix+"/tokens/{id}"),
			auth.DeleteAuthentication),
		call.Inform("/flipt.auth.AuthenticationService/GetAuthenticationSelf", authn, only(get, authPrefix+"/self"),
			auth.GetSelf).ForEveryIdentity(),
		call.Ask[emptypb.Empty]("/flipt.auth.AuthenticationService/ExpireAuthenticationSelf", authn,
			only(put, authPrefix+"/self/expire"),
			auth.ExpireSelf).Light().With(call.Issues|call.SignsInOrOut|call.InQuery).ForEveryIdentity(),
		call.Ask[wireauth.RevokeAuthenticationSelfResponse](
			"/flipt.auth.AuthenticationService/RevokeAuthenticationSelf", authn,
			only(del, authPrefix+"/self/revoke"),
			sessions.RevokeSelf).Light().With(call.Issues|call.SignsInOrOut).ForEveryIdentity(),
		call.Inform("/guidon.v1.SessionService/ListSessions", authn, only(get, authPrefix+"/self/sessions"),
			sessions.List).ForEveryIdentity(),
		call.Ask[guidonv1.CreateSessionResponse]("/guidon.v1.SessionService/CreateSession", authn,
			only(post, authPrefix+"/self/sessions"),
			sessions.Create).Light().With(call.Issues|call.SignsInOrOut).ForEveryIdentity(),
		call.Issue("/guidon.v1.SessionService/DeleteSession", only(del, authPrefix+"/self/sessions/{id}"),
			sessions.Delete).With(call.SignsInOrOut).ForEveryIdentity(),

		// Roles and bindings.
		call.Inform("/guidon.v1.AccessService/ListBindings", authn, only(get, authPrefix+"/bindings"),
			auth.ListBindings).NeedingEverywhere(service.RoleAdmin),
		call.Issue("/guidon.v1.AccessService/CreateBinding", only(post, authPrefix+"/bindings"), auth.CreateBinding),
		call.Issue("/guidon.v1.AccessService/DeleteBinding", only(del, authPrefix+"/bindings/{id}"),
			auth.DeleteBinding),
		call.Issue("/guidon.v1.AccessService/DeleteAuthentications", only(del, authPrefix+"/tokens"),
			auth.DeleteAuthentications),

		// Webhooks.
		call.Inform("/guidon.v1.WebhookService/ListWebhooks", hooks, only(get, webhooksPrefix), management.ListWebhooks).
			With(call.Private).Needing(service.RoleAdmin),
		call.Arrange("/guidon.v1.WebhookService/CreateWebhook", hooks, only(post, webhooksPrefix), management.CreateWebhook),
		call.Inform("/guidon.v1.WebhookService/GetWebhook", hooks, only(get, webhooksPrefix+"/{id}"), management.GetWebhook).
			With(call.Private).Needing(service.RoleAdmin),
		call.Arrange("/guidon.v1.WebhookService/UpdateWebhook", hooks, only(put, webhooksPrefix+"/{id}"), management.UpdateWebhook),
		call.Arrange("/guidon.v1.WebhookService/DeleteWebhook", hooks, only(del, webhooksPrefix+"/{id}"), management.DeleteWebhook),
		call.Arrange("/guidon.v1.WebhookService/RotateWebhookSecret", hooks, only(post, webhooksPrefix+"/{id}/secret"),
			management.RotateWebhookSecret),
		call.Arrange("/guidon.v1.WebhookService/TestWebhook", hooks, only(post, webhooksPrefix+"/{id}/test"), management.TestWebhook),
		call.Arrange("/guidon.v1.WebhookService/PauseWebhook", hooks, only(post, webhooksPrefix+"/{id}/pause"), management.PauseWebhook),
		call.Arrange("/guidon.v1.WebhookService/ResumeWebhook", hooks, only(post, webhooksPrefix+"/{id}/resume"), management.ResumeWebhook),
		call.Arrange("/guidon.v1.WebhookService/ReplayWebhook", hooks, only(post, webhooksPrefix+"/{id}/replay"), management.ReplayWebhook),
		call.Inform("/guidon.v1.WebhookService/ListDeliveries", hooks, only(get, webhooksPrefix+"/{id}/deliveries"),
			management.ListDeliveries).With(call.Private).Needing(service.RoleAdmin),

		// Information about the instance.
		call.Inform("/flipt.meta.MetadataService/GetInfo", call.AreaMeta, only(get, metaPrefix+"/info"),
			instance.Info).ForEveryIdentity(),
		call.Inform("/flipt.meta.MetadataService/GetConfiguration", call.AreaMeta, only(get, metaPrefix+"/config"),
			instance.Configuration).NeedingEverywhere(service.RoleAdmin),
	)
	// OFREP, and the event streams of runtimes that support them. They have no messages.
	table = append(table,
		exchange.Row{Form: ofrep.Form, Rest: true,
			Operation: ofrep.NewOperation(post, ofrep.FlagPath, protocol.Evaluate).
				Light().With(call.ServesStale).Needing(service.RoleEvaluator)},
		exchange.Row{Form: ofrep.Form, Operation: ofrep.NewOperation(post, ofrep.FlagsPath, protocol.EvaluateAll).
			Light().With(call.ServesStale).Needing(service.RoleEvaluator)},
		exchange.Row{Form: ofrep.Form, Operation: ofrep.NewOperation(get, ofrep.ConfigurationPath, protocol.Configure).
			Light().ForEveryIdentity()},
		exchange.Row{Form: protocol.EventForm(), Operation: stream.NewOperation(ofrep.EventsPath, call.AreaOFREP).
			Light().With(call.ServesStale).EnabledIf(streams).Needing(service.RoleEvaluator)},
		exchange.Row{Form: stream.NewChangeForm(config.Streams),
			Operation: stream.NewOperation(namespacePrefix+"/changes/stream", manage).
				Light().EnabledIf(streams).Needing(service.RoleViewer)},
	)
	return append(table, auth.Rows(config.SignIn, authPrefix, config.StepError)...)
}

// inMessages returns the rows of operations with messages in JSON.
func inMessages(operations ...*call.Operation) []exchange.Row {
	table := make([]exchange.Row, len(operations))
	for i, o := range operations {
		table[i] = exchange.Row{Operation: o, Form: exchange.Messages}
	}
	return table
}

// only returns the single route of an operation.
func only(method, pattern string) []call.Route {
	return []call.Route{{Method: method, Pattern: pattern}}
}

// within returns the single route of an operation on a namespace.
func within(method, path string) []call.Route {
	return only(method, namespacePrefix+path)
}

// both returns the route of an operation on a namespace, and its legacy alias. The alias
// uses the default namespace unless the request names another (contract 3).
func both(method, path string) []call.Route {
	return []call.Route{{Method: method, Pattern: namespacePrefix + path}, {Method: method, Pattern: apiPrefix + path}}
}
