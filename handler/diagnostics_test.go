package handler_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
)

// TestMeta is contract 11.
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

// TestMetaOfBuild: what the build and the configuration say is passed on.
func TestMetaOfBuild(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Info = handler.Info{Version: "1.2.3", Commit: "abc", BuildDate: "2026-01-02", Release: true}
		c.Configuration = json.RawMessage(`{"log":{"level":"INFO"}}`)
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

// TestHealth is contract 11.
func TestHealth(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Health = func(service string) handler.HealthStatus {
			return map[string]handler.HealthStatus{"": handler.HealthServing, "stopping": handler.HealthNotServing}[service]
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

// TestGuard keeps metrics and the profiler from strangers: with authentication
// from those without an unlimited token, without it from other machines
// (operations 1.2 names the gap).
func TestGuard(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) })
	config := func(need, public bool) func(*handler.Config) {
		return func(c *handler.Config) {
			c.Authentication.Required, c.Metrics, c.MetricsPublic, c.Profiling = need, metrics, public, metrics
		}
	}
	const here, there = "127.0.0.1:1", "192.0.2.1:1"
	for _, test := range []struct {
		name              string
		required, public  bool
		peer, header      string
		token             string // "", "all" or "shop"
		metrics, profiler int
	}{
		{"from here", false, false, here, "", "", 200, 200},
		{"from here by IPv6", false, false, "[::1]:1", "", "", 200, 200},
		{"from here by mapped IPv4", false, false, "[::ffff:127.0.0.2]:1", "", "", 200, 200},
		{"from elsewhere", false, false, there, "", "", 403, 403},
		{"from nowhere", false, false, "@", "", "", 403, 403},
		{"from elsewhere by a proxy here", false, false, here, "X-Forwarded-For", "", 403, 403},
		{"by another proxy", false, false, here, "X-Real-IP", "", 403, 403},
		{"by a modern proxy", false, false, here, "Forwarded", "", 403, 403},
		{"with a token that nobody looks at", false, false, there, "", "all", 403, 403},
		{"public", false, true, there, "", "", 200, 403},
		{"required, from here", true, false, here, "", "", 401, 401},
		{"required, with a token", true, false, there, "", "all", 200, 200},
		{"required, with a limited token", true, false, here, "", "shop", 401, 401},
		{"required and public", true, true, there, "", "", 200, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, config(test.required, test.public))
			for path, want := range map[string]int{
				"/metrics": test.metrics, "/debug/pprof/": test.profiler, "/debug/pprof/cmdline": test.profiler, "/debug/pprof/heap": test.profiler,
			} {
				request := httptest.NewRequest("GET", "http://localhost"+path, nil)
				request.RemoteAddr = test.peer
				if test.header != "" {
					request.Header.Set(test.header, "192.0.2.1")
				}
				if test.token != "" {
					request.Header.Set("Authorization", "Bearer "+s.token(strings.TrimPrefix(test.token, "all")))
				}
				recorder := httptest.NewRecorder()
				s.handler.ServeHTTP(recorder, request)
				if recorder.Code != want {
					t.Errorf("%s: %d, want %d", path, recorder.Code, want)
				}
				body := recorder.Body.String()
				if want != 200 && (!strings.Contains(body, "token") || strings.Contains(body, "metrics.public") != (path == "/metrics")) {
					t.Errorf("%s: the message does not name the remedy: %s", path, body)
				}
			}
		})
	}
}

// TestProfiler: the profiler has the paths below its own, and is posted to.
func TestProfiler(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Profiling = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) })
	})
	for _, method := range []string{"GET", "POST"} {
		for _, path := range []string{"/debug/pprof", "/debug/pprof/", "/debug/pprof/heap"} {
			if r := s.do(method, path, ""); r.status != 200 || string(r.body) != path {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
		}
	}
	s.do("DELETE", "/debug/pprof/", "").fails(t, 501, 12, "Method Not Allowed")
}
