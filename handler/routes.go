package handler

import (
	"net/http"
	"slices"
	"strings"

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
	exchanging[flipt.NamespaceList]("/flipt.Flipt/ListNamespaces", reads, manage, only(get, apiPrefix+"/namespaces"), (*Handler).listNamespaces),
	op("/flipt.Flipt/CreateNamespace", writes, manage, only(post, apiPrefix+"/namespaces"), (*Handler).createNamespace),
	op("/flipt.Flipt/GetNamespace", reads, manage, only(get, apiPrefix+"/namespaces/{key}"), (*Handler).getNamespace),
	op("/flipt.Flipt/UpdateNamespace", writes, manage, only(put, apiPrefix+"/namespaces/{key}"), (*Handler).updateNamespace),
	op("/flipt.Flipt/DeleteNamespace", writes, manage, only(del, apiPrefix+"/namespaces/{key}"), (*Handler).deleteNamespace),

	// Flags and variants.
	exchanging[flipt.FlagList]("/flipt.Flipt/ListFlags", reads, manage, both(get, "/flags"), (*Handler).listFlags),
	op("/flipt.Flipt/CreateFlag", writes, manage, both(post, "/flags"), (*Handler).createFlag),
	op("/flipt.Flipt/GetFlag", reads, manage, both(get, "/flags/{key}"), (*Handler).getFlag),
	op("/flipt.Flipt/UpdateFlag", writes, manage, both(put, "/flags/{key}"), (*Handler).updateFlag),
	op("/flipt.Flipt/DeleteFlag", writes, manage, both(del, "/flags/{key}"), (*Handler).deleteFlag),
	op("/flipt.Flipt/CreateVariant", writes, manage, both(post, "/flags/{flag_key}/variants"), (*Handler).createVariant),
	op("/flipt.Flipt/UpdateVariant", writes, manage, both(put, "/flags/{flag_key}/variants/{id}"), (*Handler).updateVariant),
	op("/flipt.Flipt/DeleteVariant", writes, manage, both(del, "/flags/{flag_key}/variants/{id}"), (*Handler).deleteVariant),

	// Rules and distributions.
	exchanging[flipt.RuleList]("/flipt.Flipt/ListRules", reads, manage, both(get, "/flags/{flag_key}/rules"), (*Handler).listRules),
	op("/flipt.Flipt/CreateRule", writes, manage, both(post, "/flags/{flag_key}/rules"), (*Handler).createRule),
	op("/flipt.Flipt/OrderRules", writes, manage, both(put, "/flags/{flag_key}/rules/order"), (*Handler).orderRules),
	op("/flipt.Flipt/GetRule", reads, manage, both(get, "/flags/{flag_key}/rules/{id}"), (*Handler).getRule),
	op("/flipt.Flipt/UpdateRule", writes, manage, both(put, "/flags/{flag_key}/rules/{id}"), (*Handler).updateRule),
	op("/flipt.Flipt/DeleteRule", writes, manage, both(del, "/flags/{flag_key}/rules/{id}"), (*Handler).deleteRule),
	op("/flipt.Flipt/CreateDistribution", writes, manage, both(post, "/flags/{flag_key}/rules/{rule_id}/distributions"), (*Handler).createDistribution),
	op("/flipt.Flipt/UpdateDistribution", writes, manage, both(put, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), (*Handler).updateDistribution),
	op("/flipt.Flipt/DeleteDistribution", writes, manage, both(del, "/flags/{flag_key}/rules/{rule_id}/distributions/{id}"), (*Handler).deleteDistribution),

	// Rollouts.
	exchanging[flipt.RolloutList]("/flipt.Flipt/ListRollouts", reads, manage, within(get, "/flags/{flag_key}/rollouts"), (*Handler).listRollouts),
	op("/flipt.Flipt/CreateRollout", writes, manage, within(post, "/flags/{flag_key}/rollouts"), (*Handler).createRollout),
	op("/flipt.Flipt/OrderRollouts", writes, manage, within(put, "/flags/{flag_key}/rollouts/order"), (*Handler).orderRollouts),
	op("/flipt.Flipt/GetRollout", reads, manage, within(get, "/flags/{flag_key}/rollouts/{id}"), (*Handler).getRollout),
	op("/flipt.Flipt/UpdateRollout", writes, manage, within(put, "/flags/{flag_key}/rollouts/{id}"), (*Handler).updateRollout),
	op("/flipt.Flipt/DeleteRollout", writes, manage, within(del, "/flags/{flag_key}/rollouts/{id}"), (*Handler).deleteRollout),

	// Segments and constraints.
	exchanging[flipt.SegmentList]("/flipt.Flipt/ListSegments", reads, manage, both(get, "/segments"), (*Handler).listSegments),
	op("/flipt.Flipt/CreateSegment", writes, manage, both(post, "/segments"), (*Handler).createSegment),
	op("/flipt.Flipt/GetSegment", reads, manage, both(get, "/segments/{key}"), (*Handler).getSegment),
	op("/flipt.Flipt/UpdateSegment", writes, manage, both(put, "/segments/{key}"), (*Handler).updateSegment),
	op("/flipt.Flipt/DeleteSegment", writes, manage, both(del, "/segments/{key}"), (*Handler).deleteSegment),
	op("/flipt.Flipt/CreateConstraint", writes, manage, both(post, "/segments/{segment_key}/constraints"), (*Handler).createConstraint),
	op("/flipt.Flipt/UpdateConstraint", writes, manage, both(put, "/segments/{segment_key}/constraints/{id}"), (*Handler).updateConstraint),
	op("/flipt.Flipt/DeleteConstraint", writes, manage, both(del, "/segments/{segment_key}/constraints/{id}"), (*Handler).deleteConstraint),

	// Evaluation. The legacy calls belong to the management service and are exempt
	// from authentication if that is (operations 1.2).
	exchanging[evaluation.VariantEvaluationResponse]("/flipt.evaluation.EvaluationService/Variant", reads, eval, only(post, evaluatePrefix+"/variant"), (*Handler).evaluateVariant).servesStale().reusingRequests(),
	exchanging[evaluation.BooleanEvaluationResponse]("/flipt.evaluation.EvaluationService/Boolean", reads, eval, only(post, evaluatePrefix+"/boolean"), (*Handler).evaluateBoolean).servesStale().reusingRequests(),
	exchanging[evaluation.BatchEvaluationResponse]("/flipt.evaluation.EvaluationService/Batch", reads, eval, only(post, evaluatePrefix+"/batch"), (*Handler).evaluateBatch).servesStale(),
	exchanging[evaluation.EvaluationNamespaceSnapshot]("/flipt.evaluation.DataService/EvaluationSnapshotNamespace", reads, eval, only(get, snapshotPath), (*Handler).evaluationSnapshot).withVersions().servesStale(),
	op("/flipt.Flipt/Evaluate", reads, manage, both(post, "/evaluate"), (*Handler).legacyEvaluate).servesStale().evaluating(),
	op("/flipt.Flipt/BatchEvaluate", reads, manage, both(post, "/batch-evaluate"), (*Handler).legacyBatch).servesStale().evaluating(),

	// Changes and documents: not part of Flipt v1.
	exchanging[guidonv1.ListChangesResponse]("/guidon.v1.ChangeService/ListChanges", reads, manage, within(get, "/changes"), (*Handler).listChanges),
	exchanging[guidonv1.ImportResponse]("/guidon.v1.DocumentService/Import", writes, manage, within(post, "/import"), (*Handler).importDocument).large(),
	exchanging[guidonv1.Document]("/guidon.v1.DocumentService/Export", reads, manage, within(get, "/export"), (*Handler).exportDocument),

	// Authentication. ExpireAuthenticationSelf has its time in the query (contract 10.4).
	op("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", reads, AreaPublic, only(get, authPrefix+"/method"), (*Handler).listMethods),
	op("/flipt.auth.AuthenticationMethodTokenService/CreateToken", issues, authn, only(post, authPrefix+"/method/token"), (*Handler).createToken),
	op("/flipt.auth.AuthenticationService/ListAuthentications", reads, authn, only(get, authPrefix+"/tokens"), (*Handler).listAuthentications),
	op("/flipt.auth.AuthenticationService/GetAuthentication", reads, authn, only(get, authPrefix+"/tokens/{id}"), (*Handler).getAuthentication),
	op("/flipt.auth.AuthenticationService/DeleteAuthentication", issues, authn, only(del, authPrefix+"/tokens/{id}"), (*Handler).deleteAuthentication),
	op("/flipt.auth.AuthenticationService/GetAuthenticationSelf", reads, authn, only(get, authPrefix+"/self"), (*Handler).getSelf),
	op("/flipt.auth.AuthenticationService/ExpireAuthenticationSelf", issues, authn, only(put, authPrefix+"/self/expire"), (*Handler).expireSelf).inQuery(),

	// Information about the instance.
	op("/flipt.meta.MetadataService/GetInfo", reads, AreaMeta, only(get, metaPrefix+"/info"), (*Handler).getInfo),
	op("/flipt.meta.MetadataService/GetConfiguration", reads, AreaMeta, only(get, metaPrefix+"/config"), (*Handler).getConfiguration),
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

	// OFREP routes, which are not in the operations table. The flag key is the rest of
	// the path, slashes included.
	for _, o := range ofrepOperations {
		pattern := strings.Replace(o.Name, "{key}", "*", 1)
		answer := h.entry(o.Name, o.Name, h.exposureOf(o), func(x *exchange) { h.serveOFREP(x, o) })
		mux.MethodFunc(o.Routes[0].Method, pattern, func(w http.ResponseWriter, _ *http.Request) { answer(w.(*exchange)) })
		if o.Name == ofrepFlag {
			h.fast.flag = answer
		} else {
			h.fast.exact[o.Routes[0]] = answer
		}
	}

	// Event streams, if the runtime supports them.
	if h.config.Streams != nil {
		h.handle(mux, get, ofrepEvents, h.exposureOf(ofrepEventsOperation), h.serveOFREPEvents)
		h.handle(mux, get, changesStream, h.exposureOf(changeStreamOperation), h.serveChangeStream)
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

// Operations returns all operations. They are the same for every handler and must not be
// modified.
func Operations() []*Operation { return slices.Clone(operations) }

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
