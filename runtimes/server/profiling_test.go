package server_test

import (
	"net/http/httptest"
	"testing"

	"github.com/guidonhq/guidon/runtimes/server"
)

// TestProfiling requests the pages that profiling tools use.
func TestProfiling(t *testing.T) {
	for path, status := range map[string]int{
		"/debug/pprof": 302, "/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 200, "/debug/pprof/symbol": 200,
		"/debug/pprof/trace?seconds=0.001": 200, "/debug/pprof/nope": 404,
	} {
		w := httptest.NewRecorder()
		server.Profiling().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status {
			t.Errorf("%s: got %d, want %d", path, w.Code, status)
		}
	}
}
