package handler

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Paths and their prefixes. A path under one of the API prefixes may have one trailing
// slash (contract 1.5).
const (
	apiPrefix       = "/api/v1"
	namespacePrefix = apiPrefix + "/namespaces/{namespace_key}"
	authPrefix      = "/auth/v1"
	evaluatePrefix  = "/evaluate/v1"
	internalPrefix  = "/internal/v1"
	metaPrefix      = "/meta"
	healthPath      = "/health"
	metricsPath     = "/metrics"
	profilingPath   = "/debug/pprof"
	openAPIPath     = "/openapi.yaml"
	snapshotPath    = internalPrefix + "/evaluation/snapshot/namespace/{key}"
	analyticsPath   = internalPrefix + "/analytics/namespaces/{namespace_key}/flags/{flag_key}"
)

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

// operations is the table of all operations (contract 3 and 12).
var operations = []*Operation{
	// Namespaces.
	ask[flipt.NamespaceList]("/flipt.Flipt/ListNamespaces", reads, manage, only(get, apiPrefix+"/namespaces"), (*Handler).listNamespaces),
	write("/flipt.Flipt/CreateNamespace", manage, only(post, apiPrefix+"/namespaces"), createNamespace),
	listExisting[flipt.Namespace]("/flipt.Flipt/GetNamespace", manage, only(get, apiPrefix+"/namespaces/{key}"), getNamespace),
	write("/flipt.Flipt/UpdateNamespace", manage, only(put, apiPrefix+"/namespaces/{key}"), updateNamespace),
	write("/flipt.Flipt/DeleteNamespace", manage, only(del, apiPrefix+"/namespaces/{key}"), deleteNamespace),

	// Flags and variants.
	list[flipt.FlagList]("/flipt.Flipt/ListFlags", manage, both(get, "/flags"), listFlags).validating(checkPage),
	write("/flipt.Flipt/CreateFlag", manage, both(post, "/flags"), createFlag),
	read("/flipt.Flipt/GetFlag", manage, both(get, "/flags/{key}"), getFlag).validating(checkKey),
	write("/flipt.Flipt/UpdateFlag", manage, both(put, "/flags/{key}"), updateFlag),
	write("/flipt.Flipt/DeleteFlag", manage, both(del, "/flags/{key}"), deleteFlag),
	write("/flipt.Flipt/CreateVariant", manage, both(post, "/flags/{flag_key}/variants"), createVariant),
	write("/flipt.Flipt/UpdateVariant", manage, both(put, "/flags/{flag_key}/variants/{id}"), updateVariant),
	write("/flipt.Flipt/DeleteVariant", manage, both(del, "/flags/{flag_key}/variants/{id}"), deleteVariant),

	// Rules and distributions.
	list[flipt.RuleList]("/flipt.Flipt/ListRules", manage, both(get, "/flags/{flag_key}/rules"), listRules).validating(checkRules),
	write("/flipt.Flipt/CreateRule", manage, both(post, "/flags/{flag_key}/rules"), createRule),
	write("/flipt.Flipt/OrderRules", manage, both(put, "/flags/{flag_key}/rules/order"), orderRules),
	read("/flipt.Flipt/GetRule", manage, both(get, "/flags/{flag_key}/rules/{id}"), getRule).validating(checkRule),
	write("/flipt.Flipt/UpdateRule", manage, both(put, "/flags/{flag_key}/rules/{id}"), updateRule),
	write("/flipt.Flipt/DeleteRule", manage, both(del, "/flags/{flag_key}/rules/{id}"), deleteRule),
	write("/flipt.Flipt/CreateDistribution", manage, both(post, "/flags/{flag_key}/rules/{rule_id}/distributions"), createDistribution),
	write("/flipt.Flipt/UpdateDistribution", manage, both(put, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), updateDistribution),
	write("/flipt.Flipt/DeleteDistribution", manage, both(del, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), deleteDistribution),

	// Rollouts.
	list[flipt.RolloutList]("/flipt.Flipt/ListRollouts", manage, within(get, "/flags/{flag_key}/rollouts"), listRollouts).validating(checkRollouts),
	write("/flipt.Flipt/CreateRollout", manage, within(post, "/flags/{flag_key}/rollouts"), createRollout),
	write("/flipt.Flipt/OrderRollouts", manage, within(put, "/flags/{flag_key}/rollouts/order"), orderRollouts),
	read("/flipt.Flipt/GetRollout", manage, within(get, "/flags/{flag_key}/rollouts/{id}"), getRollout),
	write("/flipt.Flipt/UpdateRollout", manage, within(put, "/flags/{flag_key}/rollouts/{id}"), updateRollout),
	write("/flipt.Flipt/DeleteRollout", manage, within(del, "/flags/{flag_key}/rollouts/{id}"), deleteRollout),

	// Segments and constraints.
	list[flipt.SegmentList]("/flipt.Flipt/ListSegments", manage, both(get, "/segments"), listSegments).validating(checkPage),
	write("/flipt.Flipt/CreateSegment", manage, both(post, "/segments"), createSegment),
	read("/flipt.Flipt/GetSegment", manage, both(get, "/segments/{key}"), getSegment).validating(checkKey),
	write("/flipt.Flipt/UpdateSegment", manage, both(put, "/segments/{key}"), updateSegment),
	write("/flipt.Flipt/DeleteSegment", manage, both(del, "/segments/{key}"), deleteSegment),
	write("/flipt.Flipt/CreateConstraint", manage, both(post, "/segments/{segment_key}/constraints"), createConstraint),
	write("/flipt.Flipt/UpdateConstraint", manage, both(put, "/segments/{segment_key}/constraints/{id}"), updateConstraint),
	write("/flipt.Flipt/DeleteConstraint", manage, both(del, "/segments/{segment_key}/constraints/{id}"), deleteConstraint),

	// Evaluation. The legacy calls belong to the management service and are exempt
	// from authentication if that is (operations 1.2).
	ask[evaluation.VariantEvaluationResponse]("/flipt.evaluation.EvaluationService/Variant", reads, eval, only(post, evaluatePrefix+"/variant"), (*Handler).evaluateVariant).servesStale().reusingRequests(),
	ask[evaluation.BooleanEvaluationResponse]("/flipt.evaluation.EvaluationService/Boolean", reads, eval, only(post, evaluatePrefix+"/boolean"), (*Handler).evaluateBoolean).servesStale().reusingRequests(),
	ask[evaluation.BatchEvaluationResponse]("/flipt.evaluation.EvaluationService/Batch", reads, eval, only(post, evaluatePrefix+"/batch"), (*Handler).evaluateBatch).servesStale(),
	list[evaluation.EvaluationNamespaceSnapshot]("/flipt.evaluation.DataService/EvaluationSnapshotNamespace", eval, only(get, snapshotPath), evaluationSnapshot).withVersions().servesStale(),
	ask[flipt.EvaluationResponse]("/flipt.Flipt/Evaluate", reads, manage, both(post, "/evaluate"), (*Handler).legacyEvaluate).servesStale().evaluating(),
	ask[flipt.BatchEvaluationResponse]("/flipt.Flipt/BatchEvaluate", reads, manage, both(post, "/batch-evaluate"), (*Handler).legacyBatch).servesStale().evaluating(),

	// Changes and documents: not part of Flipt v1.
	ask[guidonv1.ListChangesResponse]("/guidon.v1.ChangeService/ListChanges", reads, manage, within(get, "/changes"), (*Handler).listChanges),
	ask[guidonv1.ImportResponse]("/guidon.v1.DocumentService/Import", writes, manage, within(post, "/import"), (*Handler).importDocument).large(),
	listExisting[guidonv1.Document]("/guidon.v1.DocumentService/Export", manage, within(get, "/export"), exportDocument),

	// Authentication. ExpireAuthenticationSelf has its time in the query (contract 10.4).
	inform("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", AreaPublic, only(get, authPrefix+"/method"), (*Handler).listMethods),
	issue("/flipt.auth.AuthenticationMethodTokenService/CreateToken", only(post, authPrefix+"/method/token"), createToken),
	inform("/flipt.auth.AuthenticationService/ListAuthentications", authn, only(get, authPrefix+"/tokens"), (*Handler).listAuthentications),
	inform("/flipt.auth.AuthenticationService/GetAuthentication", authn, only(get, authPrefix+"/tokens/{id}"), (*Handler).getAuthentication),
	issue("/flipt.auth.AuthenticationService/DeleteAuthentication", only(del, authPrefix+"/tokens/{id}"), deleteAuthentication),
	inform("/flipt.auth.AuthenticationService/GetAuthenticationSelf", authn, only(get, authPrefix+"/self"), (*Handler).getSelf),
	issue("/flipt.auth.AuthenticationService/ExpireAuthenticationSelf", only(put, authPrefix+"/self/expire"), expireSelf).inQuery(),

	// OFREP, and the event streams of runtimes that support them. They have no messages.
	ofrep(post, ofrepFlag, (*Handler).ofrepEvaluate).servesStale(),
	ofrep(post, ofrepFlags, (*Handler).ofrepEvaluateAll).servesStale(),
	ofrep(get, ofrepConfiguration, (*Handler).ofrepConfigure),
	eventStream(ofrepEvents, AreaOFREP, (*Handler).serveOFREPEvents).servesStale(),
	eventStream(changesStream, manage, (*Handler).serveChangeStream),

	// Information about the instance.
	inform("/flipt.meta.MetadataService/GetInfo", AreaMeta, only(get, metaPrefix+"/info"), (*Handler).getInfo),
	inform("/flipt.meta.MetadataService/GetConfiguration", AreaMeta, only(get, metaPrefix+"/config"), (*Handler).getConfiguration),
}

// install registers every route of the handler.
func (h *Handler) install(mux *chi.Mux) {
	for _, o := range operations {
		if h.Enabled(o) {
			for _, route := range o.Routes {
				h.installOperation(mux, o, route)
			}
		}
	}

	// Routes that are not operations.
	plain := h.plainExposure()
	h.handle(mux, get, openAPIPath, plain, h.serveOpenAPI)
	h.handle(mux, get, analyticsPath, plain, h.serveAnalytics)
	h.installDiagnostics(mux, plain, h.guardMetrics, h.guardProfiling)
	mux.NotFound(h.serveNotFound)
	mux.MethodNotAllowed(h.serveMethodNotAllowed)
}

// installDiagnostics registers the routes that show the state of the process. Health is
// public and served under any host name. Metrics and profiler are only for requests that
// pass their guard.
func (h *Handler) installDiagnostics(mux *chi.Mux, e exposure, metrics, profiling guard) {
	h.handle(mux, get, healthPath, exposure{anyHost: true}, h.serveHealth)
	if h.config.Metrics != nil {
		h.handle(mux, get, metricsPath, e, h.serveMetrics(metrics))
	}
	if h.config.Profiling != nil {
		for _, method := range []string{get, post} { // pprof posts to its symbol page
			h.handle(mux, method, profilingPath, e, h.serveProfiling(profiling))
			h.handle(mux, method, profilingPath+"/*", e, h.serveProfiling(profiling))
		}
	}
}

// Operations returns all operations with messages, which are available over HTTP and
// gRPC. They are the same for every handler and must not be modified.
func Operations() []*Operation { return selected(func(o *Operation) bool { return o.form == nil }) }

// OperationsOverHTTP returns all other operations: OFREP and the event streams.
func OperationsOverHTTP() []*Operation {
	return selected(func(o *Operation) bool { return o.form != nil })
}

func selected(wanted func(*Operation) bool) []*Operation {
	return slices.DeleteFunc(slices.Clone(operations), func(o *Operation) bool { return !wanted(o) })
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
