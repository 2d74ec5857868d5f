package server

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// profilingPath is where package pprof expects to be.
const profilingPath = "/debug/pprof"

// Profiling returns the pages of the Go profiler, under /debug/pprof. They are for
// [handler.Config], which knows who may see them.
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
