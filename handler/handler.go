package handler

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/budget"
)

// defaultTimeout bounds the work on one request.
const defaultTimeout = 30 * time.Second

// tokenService is the gRPC service that a handler without the token method lacks.
const tokenService = "flipt.auth.AuthenticationMethodTokenService" // #nosec G101 -- a name

// Config is what a handler is made of. Service is required; every other zero
// value is right.
type Config struct {
	Service        *guidon.Service
	Authentication AuthenticationConfig
	Info           Info
	Configuration  json.RawMessage // the effective configuration, secrets left out
	Health         func(service string) HealthStatus
	Outage         func() time.Duration // for how long the database has not answered; nil is a database that always does
	Metrics        http.Handler         // nil is no /metrics
	MetricsPublic  bool                 // lets everybody read /metrics
	AllowedHosts   []string             // host names that the public may own and that requests without credentials may be for; "*" is every name
	Profiling      http.Handler         // nil is no /debug/pprof
	CORS           *CORSConfig          // nil is none
	Observer       Observer             // nil is none
	Streams        *Streams             // nil where a runtime cannot stream: there are none
	Logger         *slog.Logger         // nil logs nothing
	Now            func() time.Time
	Timeout        time.Duration   // bounds the work on one request; zero is 30 s
	Overload       *OverloadConfig // nil rejects nothing
	ImportMemory   int64           // most that the document of an import takes, in bytes; zero is DefaultImportMemory
	Budget         *budget.Budget  // of the memory that requests in progress take; nil is one of the default size
}

// AuthenticationConfig says who may do what.
type AuthenticationConfig struct {
	Required          bool // otherwise credentials are not looked at (contract 10.1)
	ExcludeManagement bool
	ExcludeEvaluation bool
	ExcludeOFREP      bool
	TokenMethod       bool // static tokens can be created
}

// Handler answers every request of the service. It may be used concurrently.
type Handler struct {
	config  Config
	service *guidon.Service
	logger  *slog.Logger
	now     func() time.Time
	tick    func() time.Time // now, where only the time in between counts
	timeout time.Duration
	budget  *budget.Budget
	cors    *cors
	origins originChecks
	mux     *chi.Mux
	fast    fastRoutes
	info    []byte

	revisions revisionTexts
}

// New returns the handler. It starts nothing.
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
		h.now, h.tick = time.Now, tick
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

// Enabled tells whether the handler has the operation.
func (h *Handler) Enabled(o *Operation) bool {
	return h.config.Authentication.TokenMethod || o.Service() != tokenService
}

// Budget returns the memory budget that all transports of the handler share.
func (h *Handler) Budget() *budget.Budget { return h.budget }
