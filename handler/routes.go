package handler

import (
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Prefixes of paths.
const (
	apiPrefix       = "/api/v1"
	namespacePrefix = apiPrefix + "/namespaces/{namespace_key}"
	authPrefix      = "/auth/v1"
	evaluatePrefix  = "/evaluate/v1"
	internalPrefix  = "/internal/v1"
	metaPrefix      = "/meta"
)

// prefixes are the parts of the path under which an unknown path gets an error of the API
// (contract 1.6).
var prefixes = []Prefix{
	{Path: apiPrefix, Form: Messages, TrailingSlash: true},
	{Path: authPrefix, Form: Messages, TrailingSlash: true},
	{Path: evaluatePrefix, Form: Messages, TrailingSlash: true},
	{Path: internalPrefix, Form: Messages, TrailingSlash: true},
	{Path: metaPrefix, Form: Messages, TrailingSlash: true},
	{Path: healthPath, Form: Messages},
	{Path: ofrepPrefix, Form: OFREPForm, TrailingSlash: true, LeadingSlash: true, Preflight: http.StatusNoContent}, // OFREP 1 and 10
}

// Short names for the table.
const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	del    = http.MethodDelete
	manage = AreaManagement
	eval   = AreaEvaluation
	authn  = AreaAuthentication
)

// rows returns the table of all operations (contract 3 and 12). tick is the clock that
// durations are measured with.
func rows(config Config, invoker *Invoker, tick func() time.Time) []Row {
	evaluator := NewEvaluator(config.Evaluations, config.Now, tick)
	protocol := NewProtocol(evaluator, config.Streams, invoker.Protects(AreaOFREP), config.Now, tick)
	methods := Methods{Token: config.Authentication.TokenMethod, SignIn: config.SignIn}
	instance := NewInstance(config.Info, config.Configuration, config.Authentication.Required)
	streams := config.Streams != nil

	table := inMessages(
		// Namespaces.
		Ask[flipt.NamespaceList]("/flipt.Flipt/ListNamespaces", manage, only(get, apiPrefix+"/namespaces"), listNamespaces),
		Change("/flipt.Flipt/CreateNamespace", manage, only(post, apiPrefix+"/namespaces"), createNamespace),
		ListExisting[flipt.Namespace]("/flipt.Flipt/GetNamespace", manage, only(get, apiPrefix+"/namespaces/{key}"), getNamespace),
		Change("/flipt.Flipt/UpdateNamespace", manage, only(put, apiPrefix+"/namespaces/{key}"), updateNamespace),
		Change("/flipt.Flipt/DeleteNamespace", manage, only(del, apiPrefix+"/namespaces/{key}"), deleteNamespace),

		// Flags and variants.
		List[flipt.FlagList]("/flipt.Flipt/ListFlags", manage, both(get, "/flags"), listFlags).Validating(checkPage),
		Change("/flipt.Flipt/CreateFlag", manage, both(post, "/flags"), createFlag),
		Read("/flipt.Flipt/GetFlag", manage, both(get, "/flags/{key}"), getFlag).Validating(checkKey),
		Change("/flipt.Flipt/UpdateFlag", manage, both(put, "/flags/{key}"), updateFlag),
		Change("/flipt.Flipt/DeleteFlag", manage, both(del, "/flags/{key}"), deleteFlag),
		Change("/flipt.Flipt/CreateVariant", manage, both(post, "/flags/{flag_key}/variants"), createVariant),
		Change("/flipt.Flipt/UpdateVariant", manage, both(put, "/flags/{flag_key}/variants/{id}"), updateVariant),
		Change("/flipt.Flipt/DeleteVariant", manage, both(del, "/flags/{flag_key}/variants/{id}"), deleteVariant),

		// Rules and distributions.
		List[flipt.RuleList]("/flipt.Flipt/ListRules", manage, both(get, "/flags/{flag_key}/rules"), listRules).Validating(checkRules),
		Change("/flipt.Flipt/CreateRule", manage, both(post, "/flags/{flag_key}/rules"), createRule),
		Change("/flipt.Flipt/OrderRules", manage, both(put, "/flags/{flag_key}/rules/order"), orderRules),
		Read("/flipt.Flipt/GetRule", manage, both(get, "/flags/{flag_key}/rules/{id}"), getRule).Validating(checkRule),
		Change("/flipt.Flipt/UpdateRule", manage, both(put, "/flags/{flag_key}/rules/{id}"), updateRule),
		Change("/flipt.Flipt/DeleteRule", manage, both(del, "/flags/{flag_key}/rules/{id}"), deleteRule),
		Change("/flipt.Flipt/CreateDistribution", manage, both(post, "/flags/{flag_key}/rules/{rule_id}/distributions"), createDistribution),
		Change("/flipt.Flipt/UpdateDistribution", manage, both(put, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), updateDistribution),
		Change("/flipt.Flipt/DeleteDistribution", manage, both(del, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), deleteDistribution),

		// Rollouts.
		List[flipt.RolloutList]("/flipt.Flipt/ListRollouts", manage, within(get, "/flags/{flag_key}/rollouts"), listRollouts).Validating(checkRollouts),
		Change("/flipt.Flipt/CreateRollout", manage, within(post, "/flags/{flag_key}/rollouts"), createRollout),
		Change("/flipt.Flipt/OrderRollouts", manage, within(put, "/flags/{flag_key}/rollouts/order"), orderRollouts),
		Read("/flipt.Flipt/GetRollout", manage, within(get, "/flags/{flag_key}/rollouts/{id}"), getRollout),
		Change("/flipt.Flipt/UpdateRollout", manage, within(put, "/flags/{flag_key}/rollouts/{id}"), updateRollout),
		Change("/flipt.Flipt/DeleteRollout", manage, within(del, "/flags/{flag_key}/rollouts/{id}"), deleteRollout),

		// Segments and constraints.
		List[flipt.SegmentList]("/flipt.Flipt/ListSegments", manage, both(get, "/segments"), listSegments).Validating(checkPage),
		Change("/flipt.Flipt/CreateSegment", manage, both(post, "/segments"), createSegment),
		Read("/flipt.Flipt/GetSegment", manage, both(get, "/segments/{key}"), getSegment).Validating(checkKey),
		Change("/flipt.Flipt/UpdateSegment", manage, both(put, "/segments/{key}"), updateSegment),
		Change("/flipt.Flipt/DeleteSegment", manage, both(del, "/segments/{key}"), deleteSegment),
		Change("/flipt.Flipt/CreateConstraint", manage, both(post, "/segments/{segment_key}/constraints"), createConstraint),
		Change("/flipt.Flipt/UpdateConstraint", manage, both(put, "/segments/{segment_key}/constraints/{id}"), updateConstraint),
		Change("/flipt.Flipt/DeleteConstraint", manage, both(del, "/segments/{segment_key}/constraints/{id}"), deleteConstraint),

		// Evaluation. The legacy calls belong to the management service and are exempt
		// from authentication if that is (operations 1.2).
		Ask[evaluation.VariantEvaluationResponse]("/flipt.evaluation.EvaluationService/Variant", eval, only(post, evaluatePrefix+"/variant"), evaluator.Variant).ServingStale().Reusing(TakeRequest, ReleaseRequest),
		Ask[evaluation.BooleanEvaluationResponse]("/flipt.evaluation.EvaluationService/Boolean", eval, only(post, evaluatePrefix+"/boolean"), evaluator.Boolean).ServingStale().Reusing(TakeRequest, ReleaseRequest),
		Ask[evaluation.BatchEvaluationResponse]("/flipt.evaluation.EvaluationService/Batch", eval, only(post, evaluatePrefix+"/batch"), evaluator.Batch).ServingStale(),
		List[evaluation.EvaluationNamespaceSnapshot]("/flipt.evaluation.DataService/EvaluationSnapshotNamespace", eval, only(get, internalPrefix+"/evaluation/snapshot/namespace/{key}"), Snapshot).WithVersions().ServingStale(),
		Ask[flipt.EvaluationResponse]("/flipt.Flipt/Evaluate", manage, both(post, "/evaluate"), evaluator.Legacy).ServingStale().Evaluating(),
		Ask[flipt.BatchEvaluationResponse]("/flipt.Flipt/BatchEvaluate", manage, both(post, "/batch-evaluate"), evaluator.LegacyBatch).ServingStale().Evaluating(),

		// Changes and documents: not part of Flipt v1.
		Ask[guidonv1.ListChangesResponse]("/guidon.v1.ChangeService/ListChanges", manage, within(get, "/changes"), listChanges),
		Ask[guidonv1.ImportResponse]("/guidon.v1.DocumentService/Import", manage, within(post, "/import"), importDocument).Writing().Large(ImportLimits, LongImport(config.ImportMemory)),
		ListExisting[guidonv1.Document]("/guidon.v1.DocumentService/Export", manage, within(get, "/export"), exportDocument),

		// Authentication. ExpireAuthenticationSelf has its time in the query (contract 10.4).
		Inform("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", AreaPublic, only(get, authPrefix+"/method"), methods.List),
		Issue("/flipt.auth.AuthenticationMethodTokenService/CreateToken", only(post, authPrefix+"/method/token"), createToken).EnabledIf(config.Authentication.TokenMethod),
		Inform("/flipt.auth.AuthenticationService/ListAuthentications", authn, only(get, authPrefix+"/tokens"), listAuthentications),
		Inform("/flipt.auth.AuthenticationService/GetAuthentication", authn, only(get, authPrefix+"/tokens/{id}"), getAuthentication),
		Issue("/flipt.auth.AuthenticationService/DeleteAuthentication", only(del, authPrefix+"/tokens/{id}"), deleteAuthentication),
		Inform("/flipt.auth.AuthenticationService/GetAuthenticationSelf", authn, only(get, authPrefix+"/self"), getSelf),
		Ask[emptypb.Empty]("/flipt.auth.AuthenticationService/ExpireAuthenticationSelf", authn, only(put, authPrefix+"/self/expire"), expireSelf).Issuing().InQuery(),

		// Information about the instance.
		Inform("/flipt.meta.MetadataService/GetInfo", AreaMeta, only(get, metaPrefix+"/info"), instance.Info),
		Inform("/flipt.meta.MetadataService/GetConfiguration", AreaMeta, only(get, metaPrefix+"/config"), instance.Configuration),
	)
	// OFREP, and the event streams of runtimes that support them. They have no messages.
	table = append(table,
		Row{OFREPOperation(post, ofrepFlag, protocol.Evaluate).ServingStale(), OFREPForm, true},
		Row{OFREPOperation(post, ofrepFlags, protocol.EvaluateAll).ServingStale(), OFREPForm, false},
		Row{OFREPOperation(get, ofrepConfiguration, protocol.Configure), OFREPForm, false},
		Row{StreamOperation(ofrepEvents, AreaOFREP).ServingStale().EnabledIf(streams), protocol.EventForm(), false},
		Row{StreamOperation(namespacePrefix+"/changes/stream", manage).EnabledIf(streams), ChangeForm(config.Streams), false},
	)
	if config.SignIn != nil {
		table = append(table, config.SignIn.Rows()...)
	}
	return table
}

// inMessages returns the rows of operations with messages in JSON.
func inMessages(operations ...*Operation) []Row {
	table := make([]Row, len(operations))
	for i, o := range operations {
		table[i] = Row{Operation: o, Form: Messages}
	}
	return table
}

// only returns the single route of an operation.
func only(method, pattern string) []Route {
	return []Route{{method, pattern}}
}

// within returns the single route of an operation on a namespace.
func within(method, path string) []Route {
	return only(method, namespacePrefix+path)
}

// both returns the route of an operation on a namespace, and its legacy alias. The alias
// uses the default namespace unless the request names another (contract 3).
func both(method, path string) []Route {
	return []Route{{method, namespacePrefix + path}, {method, apiPrefix + path}}
}
