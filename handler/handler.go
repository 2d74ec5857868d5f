package handler

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

const (
	defaultTimeout = 30 * time.Second // limits the work on one request
	defaultSession = 24 * time.Hour   // of a browser
)

// eventSchema is event.json.
//
//go:embed event.json
var eventSchema []byte

// apiDescription is openapi.yaml.
//
//go:embed openapi.yaml
var apiDescription []byte

// Config configures a [Handler]. Service is required; the zero value of every other
// field is a usable default.
type Config struct {
	Service        *service.Service
	Authentication call.AuthenticationConfig
	Session        call.SessionCookie                                    // the cookie of browser sessions and their Lifetime; zero means 24 h
	MaxSessions    int                                                   // of one static token; zero means no limit
	SignIn         auth.SignIn                                           // nil disables signing in
	StepError      func(x *exchange.Exchange, status int, reason string) // the page of an error of signing in, for browsers; optional
	Info           diagnostics.Info
	UI             diagnostics.UI
	Configuration  func() json.RawMessage // returns the effective configuration, without secrets; nil means {}
	Health         func(service string) diagnostics.HealthStatus
	Outage         func() time.Duration                     // how long the database has been unavailable; nil means it never is
	DatabaseFault  func() error                             // why the database needs an operator, for clients; nil means it never does
	Metrics        http.Handler                             // nil disables /metrics
	MetricsPublic  bool                                     // allows reading /metrics without a credential
	AllowedHosts   []string                                 // host names for requests without credentials; "*" allows every name
	Profiling      http.Handler                             // nil disables /debug/pprof
	Backup         diagnostics.OpenBackup                   // nil disables /meta/backup
	CORS           *exchange.CORSConfig                     // nil disables CORS
	PublicOrigin   string                                   // for people, such as https://flags.example; "" if it is not known
	TrustedOrigins []string                                 // of other pages that may use the sessions of their visitors
	Mounts         []exchange.Mount                         // pages
	Pages          func(rows []exchange.Row) exchange.Mount // pages that run operations of the table; optional
	Ready          func(ctx context.Context) error          // why no operation can run yet; nil means that they always can
	Observer       call.Observer                            // optional
	Tracer         call.Tracer                              // optional
	Evaluations    evaluation.Observer                      // optional
	Streams        *stream.Hub                              // nil disables event streams, for runtimes that cannot stream
	Logger         *slog.Logger                             // nil disables logging
	Now            func() time.Time
	Timeout        time.Duration        // limits the work on one request; zero means 30 s
	Overload       *call.OverloadConfig // nil disables load shedding
	Failures       *limit.Failures      // of credentials; nil disables the limits
	Requests       *call.RequestLimiter // for evaluation; nil disables the limit
	Proxies        limit.Proxies        // between the callers and the service, for the limits
	ReadOnly       bool                 // denies writes of namespaces to every caller
	RecordAddress  bool                 // change records of authentications and bindings have the address of the caller
	ImportMemory   int64                // limits the memory of an imported document, in bytes; zero means DefaultImportMemory
	Budget         *limit.Budget        // of the memory of the requests in progress; nil means one of the default size
}

// Handler serves every request of the service. It is safe for concurrent use.
type Handler struct {
	invoker     *call.Invoker
	operations  []*call.Operation
	byName      map[string]*call.Operation
	router      *exchange.Router
	diagnostics *exchange.Router
}

// New returns a handler. It starts no goroutines. It panics if a mount or an operation of
// config.SignIn claims a path that has an owner already, or if an origin is not valid; see
// [exchange.ParseOrigin].
func New(config Config) *Handler {
	config, tick := config.withDefaults()
	invoker := call.NewInvoker(call.Config{
		Verifier: verifierOf(config.SignIn),
		Service:  config.Service, Authentication: config.Authentication, Session: config.Session, Budget: config.Budget,
		Logger: config.Logger, Timeout: config.Timeout, Overload: config.Overload,
		Failures: config.Failures, Requests: config.Requests, Proxies: config.Proxies, Observer: config.Observer, Tracer: config.Tracer,
		RecordAddress: config.RecordAddress, ReadOnly: config.ReadOnly, Ready: config.Ready,
	})
	rows := rows(config, invoker, tick)
	mounts := config.Mounts
	if config.Pages != nil {
		mounts = append(slices.Clone(mounts), config.Pages(rows))
	}
	routing := exchange.Config{
		Invoker: invoker, CORS: config.CORS, AllowedHosts: config.AllowedHosts, Prefixes: prefixes,
		PublicOrigin: config.PublicOrigin, TrustedOrigins: config.TrustedOrigins,
	}
	state := diagnostics.Diagnostics{
		Health: config.Health, Outage: config.Outage, DatabaseFault: config.DatabaseFault, Metrics: config.Metrics,
		MetricsPublic: config.MetricsPublic,
		Profiling:     config.Profiling, Required: config.Authentication.Required,
	}
	plain := append(state.Routes(),
		diagnostics.Description("/openapi.yaml", "application/yaml", apiDescription, config.Authentication.Required),
		diagnostics.Description("/schemas/event.json", "application/schema+json", eventSchema, config.Authentication.Required))
	if config.Backup != nil {
		plain = append(plain, diagnostics.Backup(config.Backup, config.Authentication.Required))
	}
	h := &Handler{invoker: invoker, byName: make(map[string]*call.Operation), router: exchange.NewRouter(rows, plain, mounts, routing)}
	for _, row := range rows {
		h.operations, h.byName[row.Name] = append(h.operations, row.Operation), row.Operation
	}
	routing.CORS = nil
	h.diagnostics = exchange.NewRouter(nil, state.OperatorRoutes(), nil, routing)
	return h
}

// withDefaults returns the configuration with a value for every optional field that the
// handler cannot do without, and the clock that durations are measured with.
func (c Config) withDefaults() (config Config, tick func() time.Time) {
	tick = c.Now
	if c.Now == nil {
		c.Now, tick = time.Now, clock.Tick
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Budget = cmp.Or(c.Budget, limit.NewBudget(0))
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.SignIn == nil {
		c.SignIn = auth.NoSignIn{}
	}
	c.Session.Lifetime = cmp.Or(c.Session.Lifetime, defaultSession)
	return c, tick
}

// verifierOf returns the verifier of JWTs, or nil if they are not accepted.
func verifierOf(in auth.SignIn) call.Verifier {
	if enabled, _ := in.Describe(service.MethodJWT); !enabled {
		return nil
	}
	return in
}

// ServeHTTP implements [http.Handler]. It logs and observes each request once.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.router.ServeHTTP(w, r) }

// Diagnostics returns the handler of a listener that only operators can reach. It serves
// health, metrics and the profiler, without authentication.
func (h *Handler) Diagnostics() http.Handler { return h.diagnostics }

// Invoke runs the operation of this handler with the name of o; see [Invoker.Invoke].
func (h *Handler) Invoke(ctx context.Context, o *call.Operation, request call.Request) (call.Response, error) {
	own := h.byName[o.Name]
	if own == nil {
		return call.Response{}, guidon.Errorf(guidon.Unimplemented, "there is no operation %s", o.Name)
	}
	return h.invoker.Invoke(ctx, own, request)
}

// Operations returns the operations of the handler that have messages, also the disabled
// ones. They are available over HTTP and gRPC.
func (h *Handler) Operations() []*call.Operation { return h.selected((*call.Operation).HasMessages) }

func (h *Handler) selected(wanted func(*call.Operation) bool) []*call.Operation {
	return slices.DeleteFunc(slices.Clone(h.operations), func(o *call.Operation) bool { return !wanted(o) })
}

// Operations returns the operations with messages that every handler has, to find out
// about their names, routes and messages.
func Operations() []*call.Operation { return New(Config{}).Operations() }

// OperationsOverHTTP returns the operations without messages that every handler has:
// OFREP and the event streams.
func OperationsOverHTTP() []*call.Operation {
	return New(Config{}).selected(func(o *call.Operation) bool { return !o.HasMessages() })
}

// Budget returns the memory budget that all transports of the handler share.
func (h *Handler) Budget() *limit.Budget { return h.invoker.Budget() }
