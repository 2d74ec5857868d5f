package handler_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/diagnostics"
)

// TestMeta tests contract 11.
func TestMeta(t *testing.T) {
	s := newServer(t)
	info := s.do("GET", "/meta/info", "")
	var got struct {
		GoVersion, OS, Arch string
		Authentication      struct{ Required *bool }
		Storage             struct{ Type string }
	}
	if err := json.Unmarshal([]byte(info.body), &got); err != nil {
		t.Fatal(err)
	}
	if got.GoVersion == "" || got.OS == "" || got.Arch == "" || got.Storage.Type != "database" ||
		got.Authentication.Required == nil || *got.Authentication.Required {
		t.Errorf("%s", info.body)
	}
	config := s.do("GET", "/meta/config", "")
	if config.status != 200 || !json.Valid([]byte(config.body)) {
		t.Errorf("%d %s", config.status, config.body)
	}
	s.do("GET", "/meta/config/", "").check(t, 200, stable(config.body))
	for _, r := range []reply{info, config} {
		if got := r.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
	}
}

// TestMetaOfUI: /meta/info has the theme and the color of the web interface.
func TestMetaOfUI(t *testing.T) {
	for want, in := range map[string]diagnostics.UI{
		`"ui":{"theme":"system","topbarColor":""}`:      {},
		`"ui":{"theme":"dark","topbarColor":"#1a2b3c"}`: {Theme: "dark", TopbarColor: "#1a2b3c"},
	} {
		s := newServer(t, func(c *handler.Config) { c.UI = in })
		if got := s.must("", "GET", "/meta/info", "").body; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// TestMetaOfBuild: the metadata of the build and the configuration are returned.
func TestMetaOfBuild(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Info = diagnostics.Info{Version: "1.2.3", Commit: "abc", BuildDate: "2026-01-02", Release: true}
		c.Configuration = func() json.RawMessage { return json.RawMessage(`{"log":{"level":"INFO"}}`) }
	})
	var got struct {
		Version, Commit, BuildDate string
		IsRelease                  bool
	}
	info := s.do("GET", "/meta/info", "")
	if err := json.Unmarshal([]byte(info.body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "1.2.3" || got.Commit != "abc" || got.BuildDate != "2026-01-02" || !got.IsRelease {
		t.Errorf("%s", info.body)
	}
	s.do("GET", "/meta/config", "").check(t, 200, `{"log":{"level":"INFO"}}`)
}

// TestHealth tests contract 11.
func TestHealth(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Health = func(service string) diagnostics.HealthStatus {
			return map[string]diagnostics.HealthStatus{"": diagnostics.HealthServing, "stopping": diagnostics.HealthNotServing}[service]
		}
	})
	r := s.do("GET", "/health", "")
	r.check(t, 200, `{"status":"SERVING"}`)
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	s.do("GET", "/health?service=x", "").fails(t, 404, 5, "unknown service")
	s.do("GET", "/health?service=stopping", "").fails(t, 503, 14, "not serving")
	newServer(t).do("GET", "/health?service=x", "").fails(t, 404, 5, "unknown service")
}

func TestOpenAPI(t *testing.T) {
	want, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := newServer(t).do("GET", "/openapi.yaml", "")
	if r.body != string(want) || r.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%d %q", r.status, r.header.Get("Content-Type"))
	}
}

// TestDiagnosticsAccess: access to metrics and profiler, on the public listener and on
// that for operators. Neither the address of the peer nor X-Forwarded-For makes a
// difference.
func TestDiagnosticsAccess(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })
	for _, test := range []struct {
		name              string
		required, public  bool
		token             string // "", "all", "shop" or "unknown"
		metrics, profiler int
	}{
		{"not required", false, false, "", 403, 403},
		{"not required, with a token that is not checked", false, false, "all", 403, 403},
		{"not required, public", false, true, "", 200, 403},
		{"required", true, false, "", 401, 401},
		{"required, with a token", true, false, "all", 200, 200},
		{"required, with an unknown token", true, false, "unknown", 401, 401},
		{"required, with a limited token", true, false, "shop", 401, 401},
		{"required and public", true, true, "", 200, 401},
		{"required and public, with a token", true, true, "all", 200, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, func(c *handler.Config) {
				c.Authentication.Required, c.Metrics, c.MetricsPublic, c.Profiling = test.required, page, test.public, page
			})
			token := test.token
			switch token {
			case "all":
				token = s.token("")
			case "shop":
				token = s.token("shop")
			}
			serve := func(h http.Handler, path, peer, forwarded string) *httptest.ResponseRecorder {
				request := httptest.NewRequest("GET", "http://localhost"+path, nil)
				request.RemoteAddr = peer
				if forwarded != "" {
					request.Header.Set("X-Forwarded-For", forwarded)
				}
				if token != "" {
					request.Header.Set("Authorization", "Bearer "+token)
				}
				recorder := httptest.NewRecorder()
				h.ServeHTTP(recorder, request)
				return recorder
			}
			for path, want := range map[string]int{
				"/metrics": test.metrics, "/debug/pprof/": test.profiler, "/debug/pprof/cmdline": test.profiler, "/debug/pprof/heap": test.profiler,
			} {
				for _, peer := range []string{"127.0.0.1:1", "[::1]:1", "192.0.2.1:1", "@"} {
					for _, forwarded := range []string{"", "127.0.0.1"} {
						r := serve(s.handler, path, peer, forwarded)
						body := r.Body.String()
						if r.Code != want {
							t.Errorf("%s from %s, forwarded for %q: %d, want %d", path, peer, forwarded, r.Code, want)
						}
						if want != 200 && (!strings.Contains(body, "server.diagnostics_address") || strings.Contains(body, "metrics.public") != (path == "/metrics")) {
							t.Errorf("%s: the message does not name the remedy: %s", path, body)
						}
						if r := serve(s.handler.Diagnostics(), path, peer, forwarded); r.Code != 200 {
							t.Errorf("%s on the listener for operators: %d %s", path, r.Code, r.Body)
						}
					}
				}
			}
		})
	}
}

// TestDiagnostics: the listener for operators serves only health and, if enabled,
// metrics and profiler. Its host names are restricted too.
func TestDiagnostics(t *testing.T) {
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	all := handler.Config{Metrics: page, Profiling: page}
	all.Authentication.Required = true
	for _, test := range []struct {
		config       handler.Config
		host         string
		method, path string
		want         int
	}{
		{all, "10.0.0.7:8081", "GET", "/health", 200},
		{all, "10.0.0.7:8081", "GET", "/metrics", 200},
		{all, "10.0.0.7:8081", "GET", "/debug/pprof", 200},
		{all, "10.0.0.7:8081", "POST", "/debug/pprof/symbol", 200},
		{all, "10.0.0.7:8081", "DELETE", "/metrics", 501},
		{all, "10.0.0.7:8081", "GET", "/api/v1/namespaces", 404},
		{all, "10.0.0.7:8081", "GET", "/meta/config", 404},
		{all, "10.0.0.7:8081", "POST", "/evaluate/v1/boolean", 404},
		{all, "10.0.0.7:8081", "GET", "/", 404},
		{all, "evil.example", "GET", "/health", 200},
		{all, "evil.example", "GET", "/metrics", 403},
		{all, "evil.example", "GET", "/debug/pprof/heap", 403},
		{handler.Config{}, "localhost", "GET", "/health", 200},
		{handler.Config{}, "localhost", "GET", "/metrics", 404},
		{handler.Config{}, "localhost", "GET", "/debug/pprof/", 404},
	} {
		if r := requestWithHost(handler.New(test.config).Diagnostics(), test.host, test.method, test.path); r.Code != test.want {
			t.Errorf("%s %s%s: %d %s, want %d", test.method, test.host, test.path, r.Code, r.Body, test.want)
		}
	}
}

// TestProfiler: the profiler serves all paths under its own, for GET and POST.
func TestProfiler(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) {
		c.Profiling = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) })
	})
	token := s.token("")
	for _, method := range []string{"GET", "POST"} {
		for _, path := range []string{"/debug/pprof", "/debug/pprof/", "/debug/pprof/heap"} {
			if r := s.do(method, path, "", "Authorization", "Bearer "+token); r.status != 200 || string(r.body) != path {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
		}
	}
	s.do("DELETE", "/debug/pprof/", "").fails(t, 501, 12, "Method Not Allowed")
}
