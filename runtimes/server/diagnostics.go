package server

import (
	"log"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
)

// Limits of the diagnostics listener, which has few clients. Package pprof extends the
// write timeout by the duration of a profile.
const (
	diagnosticsConnections    = 64
	diagnosticsReadTimeout    = 10 * time.Second
	diagnosticsWriteTimeout   = time.Minute
	diagnosticsIdleTimeout    = time.Minute
	diagnosticsMaxHeaderBytes = 16 << 10
)

func newDiagnosticsServer(config Config) *http.Server {
	return &http.Server{
		Handler:        config.Handler.Diagnostics(),
		ReadTimeout:    diagnosticsReadTimeout,
		WriteTimeout:   diagnosticsWriteTimeout,
		IdleTimeout:    diagnosticsIdleTimeout,
		MaxHeaderBytes: diagnosticsMaxHeaderBytes,
		ErrorLog:       log.New(&httpErrorWriter{logger: config.Logger}, "", 0),
	}
}

// profilingPath is the path under which package pprof expects to be served.
const profilingPath = "/debug/pprof"

// Profiling serves the Go profiler under /debug/pprof. Pass it to [handler.Config], and
// the handler restricts access to it.
func Profiling() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, profilingPath) {
		case "":
			http.Redirect(w, r, profilingPath+"/", http.StatusFound)
		case "/cmdline":
			pprof.Cmdline(w, r)
		case "/profile":
			pprof.Profile(w, r)
		case "/symbol":
			pprof.Symbol(w, r)
		case "/trace":
			pprof.Trace(w, r)
		default:
			pprof.Index(w, r)
		}
	})
}
