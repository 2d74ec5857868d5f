package handler

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/budget"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// defaultTimeout limits the work on one request.
const defaultTimeout = 30 * time.Second

// tokenService is the gRPC service that requires the token method to be enabled.
const tokenService = "flipt.auth.AuthenticationMethodTokenService" // #nosec G101 -- a name

// Config configures a [Handler]. Service is required; the zero value of every other
// field is a usable default.
type Config struct {
	Service        *service.Service
	Authentication AuthenticationConfig
	Info           Info
	Configuration  json.RawMessage // the effective configuration, without secrets
	Health         func(service string) HealthStatus
	Outage         func() time.Duration // how long the database has been unavailable; nil means it never is
	Metrics        http.Handler         // nil disables /metrics
	MetricsPublic  bool                 // allows reading /metrics without a credential
	AllowedHosts   []string             // public host names under which requests without credentials are accepted; "*" allows every name
	Profiling      http.Handler         // nil disables /debug/pprof
	CORS           *CORSConfig          // nil disables CORS
	Observer       Observer             // optional
	Streams        *stream.Hub          // nil disables event streams, for runtimes that cannot stream
	Logger         *slog.Logger         // nil disables logging
	Now            func() time.Time
	Timeout        time.Duration   // limits the work on one request; zero means 30 s
	Overload       *OverloadConfig // nil disables load shedding
	ImportMemory   int64           // limits the memory of an imported document, in bytes; zero means DefaultImportMemory
	Budget         *budget.Budget  // of the memory of the requests in progress; nil means one of the default size
}

// AuthenticationConfig configures which requests need a credential.
type AuthenticationConfig struct {
	Required          bool // if not set, credentials are ignored (contract 10.1)
	ExcludeManagement bool
	ExcludeEvaluation bool
	ExcludeOFREP      bool
	TokenMethod       bool // static tokens can be created
}

// Handler serves every request of the service. It is safe for concurrent use.
type Handler struct {
	config  Config
	service *service.Service
	logger  *slog.Logger
	now     func() time.Time
	tick    func() time.Time // now, for measuring durations
	timeout time.Duration
	budget  *budget.Budget
	cors    *cors
	origins originChecks
	mux     *chi.Mux
	fast    fastRoutes
	info    []byte

	revisions revisionTexts
}

// New returns a handler. It starts no goroutines.
func New(config Config) *Handler {
	h := &Handler{
		config:  config,
		service: config.Service,
		logger:  config.Logger,
		now:     config.Now,
		tick:    config.Now,
		timeout: config.Timeout,
		budget:  config.Budget,
		info:    config.Info.encode(config.Authentication.Required),
		mux:     chi.NewMux(),
		fast:    fastRoutes{exact: make(map[Route]serveFunc)},
	}
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now, h.tick = time.Now, clock.Tick
	}
	if h.config.ImportMemory == 0 {
		h.config.ImportMemory = DefaultImportMemory
	}
	if h.budget == nil {
		h.budget = budget.New(0)
	}
	if h.timeout == 0 {
		h.timeout = defaultTimeout
	}
	if config.CORS != nil {
		h.cors = newCORS(*config.CORS)
	}
	h.origins.init(config)
	h.mux.Use(routing)
	h.install(h.mux)
	return h
}

// Enabled reports whether the handler has the operation.
func (h *Handler) Enabled(o *Operation) bool {
	switch {
	case o.streams:
		return h.config.Streams != nil
	case o.form != nil:
		return true
	}
	return h.config.Authentication.TokenMethod || o.Service() != tokenService
}

// Budget returns the memory budget that all transports of the handler share.
func (h *Handler) Budget() *budget.Budget { return h.budget }
