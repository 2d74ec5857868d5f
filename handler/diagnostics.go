package handler

import (
	"bytes"
	"compress/gzip"
	_ "embed" // openapi.yaml.gz
	"io"
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// compressedOpenAPI is openapi.yaml, compressed to a fifteenth of its size.
//
//go:embed openapi.yaml.gz
var compressedOpenAPI []byte

var openAPI = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressedOpenAPI))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

func (h *Handler) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	x := w.(*exchange)
	text, err := openAPI()
	if err != nil {
		x.replyError(err)
		return
	}
	x.reply(http.StatusOK, "application/yaml", text)
}

// serveAnalytics reports that analytics is disabled, to callers with access to it
// (operations 1.2).
func (h *Handler) serveAnalytics(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	if h.config.Authentication.Required {
		if err := h.identifyUnlimited(r); err != nil {
			x.replyError(err)
			return
		}
	}
	x.replyError(guidon.Errorf(guidon.Unimplemented, "analytics is disabled"))
}

// Diagnostics returns the handler of a listener that only operators can reach. It serves
// health, metrics and the profiler, without authentication.
func (h *Handler) Diagnostics() http.Handler {
	mux := chi.NewMux()
	mux.Use(routing)
	allowAll := func(*http.Request) error { return nil }
	h.installDiagnostics(mux, exposure{}, allowAll, allowAll)
	mux.NotFound(h.serveNotFound)
	mux.MethodNotAllowed(h.serveMethodNotAllowed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := h.begin(w, r)
		defer h.conclude(x)
		mux.ServeHTTP(x, r)
	})
}

// guard returns an error if the request has no access to the route.
type guard func(r *http.Request) error

func (h *Handler) serveMetrics(allow guard) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.event.quiet = true
		if err := allow(r); err != nil {
			x.replyError(err)
			return
		}
		h.config.Metrics.ServeHTTP(w, r)
	}
}

func (h *Handler) serveProfiling(allow guard) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := allow(r); err != nil {
			w.(*exchange).replyError(err)
			return
		}
		h.config.Profiling.ServeHTTP(w, r)
	}
}

// guardMetrics restricts access to the metrics, unless they are public.
func (h *Handler) guardMetrics(r *http.Request) error {
	if h.config.MetricsPublic {
		return nil
	}
	return h.requireOperator(r, ", or set metrics.public")
}

func (h *Handler) guardProfiling(r *http.Request) error { return h.requireOperator(r, "") }

// requireOperator returns an error unless the request has a credential for the whole
// instance. It ignores the address of the peer: a proxy on this machine need not
// disclose that it forwards a request. otherwise is another remedy, for the message.
func (h *Handler) requireOperator(r *http.Request, otherwise string) error {
	if !h.config.Authentication.Required {
		return guidon.Errorf(guidon.PermissionDenied,
			"permission denied: use the listener of server.diagnostics_address, or require authentication and present a token%s", otherwise)
	}
	err := h.identifyUnlimited(r)
	if guidon.CodeOf(err) != guidon.Unauthenticated {
		return err
	}
	return &guidon.Error{
		Code: guidon.Unauthenticated,
		Message: guidon.PublicMessage(err) +
			": present a token that is not limited to a namespace, or use the listener of server.diagnostics_address" + otherwise,
		Err: err,
	}
}

// identifyUnlimited returns Unauthenticated unless the request has a credential
// that is not limited to a namespace.
func (h *Handler) identifyUnlimited(r *http.Request) error {
	a, _, err := h.identify(r.Context(), service.Demand{}, "", r.Header["Authorization"], r.Header["Cookie"])
	if err != nil {
		return err
	}
	if _, limited := a.Scope(); limited {
		return unauthenticated("the token is limited to a namespace")
	}
	return nil
}
