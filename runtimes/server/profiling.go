package server

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

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
