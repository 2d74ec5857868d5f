package diagnostics

import (
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

// Diagnostics serves the endpoints that show the state of the process.
type Diagnostics struct {
	Health        func(service string) HealthStatus // nil means that the whole instance is ready
	Outage        func() time.Duration              // how long the database has been unavailable; nil means it never is
	DatabaseFault func() error                      // why the database needs an operator, as an error for clients; nil means it never does
	Metrics       http.Handler                      // nil disables /metrics
	MetricsPublic bool                              // allows reading /metrics without a credential
	Profiling     http.Handler                      // nil disables /debug/pprof
	Required      bool                              // credentials are required
}

// The paths.
const (
	HealthPath    = "/health"
	metricsPath   = "/metrics"
	profilingPath = "/debug/pprof"
)

// Routes returns the routes for everybody. Health is public and served under any host
// name. Metrics and profiler are only for callers with access to them.
func (d Diagnostics) Routes() []exchange.Plain {
	return d.routes(d.Required, d.guardMetrics, d.guardProfiling)
}

// OperatorRoutes returns the routes of a listener that only operators can reach, without
// authentication.
func (d Diagnostics) OperatorRoutes() []exchange.Plain {
	allowAll := func(*exchange.Exchange) error { return nil }
	return d.routes(false, allowAll, allowAll)
}

func (d Diagnostics) routes(anyHost bool, metrics, profiling guard) []exchange.Plain {
	routes := []exchange.Plain{{Method: http.MethodGet, Pattern: HealthPath, AnyHost: true, Serve: d.serveHealth}}
	if d.Metrics != nil {
		routes = append(routes, exchange.Plain{Method: http.MethodGet, Pattern: metricsPath, AnyHost: anyHost, Serve: guarded(d.Metrics, metrics, true)})
	}
	if d.Profiling != nil {
		for _, method := range []string{http.MethodGet, http.MethodPost} { // pprof posts to its symbol page
			for _, pattern := range []string{profilingPath, profilingPath + "/*"} {
				routes = append(routes, exchange.Plain{Method: method, Pattern: pattern, AnyHost: anyHost, Serve: guarded(d.Profiling, profiling, false)})
			}
		}
	}
	return routes
}

// guard returns an error if the request has no access to the route.
type guard func(x *exchange.Exchange) error

// guarded serves requests that have access to the route. They are logged at Debug only if quiet
// is set.
func guarded(handler http.Handler, allow guard, quiet bool) func(x *exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.Event.Quiet = quiet
		if err := allow(x); err != nil {
			x.ReplyError(err)
			return
		}
		handler.ServeHTTP(x, x.Request)
	}
}

// guardMetrics restricts access to the metrics, unless they are public.
func (d Diagnostics) guardMetrics(x *exchange.Exchange) error {
	if d.MetricsPublic {
		return nil
	}
	return d.requireOperator(x, service.RoleViewer, ", or set metrics.public")
}

func (d Diagnostics) guardProfiling(x *exchange.Exchange) error {
	return d.requireOperator(x, service.RoleAdmin, "")
}

// requireOperator returns an error unless the request has a credential for the whole
// instance, with the role. It ignores the address of the peer: a proxy on this machine need not
// disclose that it forwards a request. hint names another remedy, for the message.
func (d Diagnostics) requireOperator(x *exchange.Exchange, role service.Role, hint string) error {
	if !d.Required {
		return guidon.Errorf(guidon.PermissionDenied,
			"permission denied: use the listener of server.diagnostics_address, or require authentication and present a token%s", hint)
	}
	err := require(x, role, service.Everywhere)
	if guidon.CodeOf(err) != guidon.Unauthenticated {
		return err
	}
	return &guidon.Error{
		Code: guidon.Unauthenticated,
		Message: guidon.PublicMessage(err) +
			": present a token that is not limited to a namespace, or use the listener of server.diagnostics_address" + hint,
		Err: err,
	}
}

// require returns Unauthenticated unless the request has a credential that is not limited
// to a namespace, and PermissionDenied if that lacks the role in the namespace.
func require(x *exchange.Exchange, role service.Role, namespace string) error {
	a, err := x.Identify(call.Credentials{Authorization: x.Request.Header["Authorization"], Cookie: x.Request.Header["Cookie"]},
		service.Demand{})
	if err != nil {
		return err
	}
	if _, limited := a.Scope(); limited {
		return call.Unauthenticated("the token is limited to a namespace")
	}
	if !a.May(role, namespace) {
		return service.Refusal(role, namespace)
	}
	return nil
}
