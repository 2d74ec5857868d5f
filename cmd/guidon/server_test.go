package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// testServer is a server that a test started with the command.
type testServer struct {
	shell     *shell
	web, grpc string
	stop      context.CancelFunc
	exited    chan int

	mu  sync.Mutex
	log bytes.Buffer
	err bytes.Buffer
}

// Write collects the log of the server.
func (s *testServer) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

func (s *testServer) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// serve starts "guidon server" on free ports and waits until it is serving. It is
// stopped at the end of the test.
func (s *shell) serve(args ...string) *testServer {
	s.t.Helper()
	r := &testServer{exited: make(chan int, 1)}
	r.shell = s.with("GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_HTTP_PORT=0", "GUIDON_SERVER_GRPC_PORT=0")
	lines, out := io.Pipe()
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() {
		code := run(ctx, append([]string{"server"}, args...), r.shell.environ, strings.NewReader(""), io.MultiWriter(r, out), &r.err)
		out.Close()
		r.exited <- code
	}()
	ready := make(chan struct{})
	go r.watch(lines, ready)
	s.t.Cleanup(func() { r.wait(cli.ExitOK) })
	select {
	case <-ready:
	case code := <-r.exited:
		r.exited <- code
		s.t.Fatalf("the server ended with %d: %s%s", code, r.text(), r.err.String())
	}
	return r
}

// eachWay runs the test in subtests named "database", "HTTP" and "gRPC": in the shell local,
// whose commands use the database, and in the shell remote, whose commands call the server.
// at completes the arguments of a command.
func eachWay(t *testing.T, local, remote *shell, server *testServer, test func(t *testing.T, s *shell, way string, at func(args ...string) []string)) {
	t.Helper()
	for _, way := range []struct {
		name  string
		shell *shell
		where []string
	}{
		{"database", local, nil},
		{"HTTP", remote, []string{"-a", server.web}},
		{"gRPC", remote, []string{"-a", server.grpc}},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := *way.shell
			s.t = t
			test(t, &s, way.name, func(args ...string) []string { return append(args, way.where...) })
		})
	}
}

// watch waits for the log line with the addresses.
func (s *testServer) watch(lines *io.PipeReader, ready chan<- struct{}) {
	defer lines.Close()
	decoder := json.NewDecoder(lines)
	for {
		var event struct{ M, HTTP, GRPC string }
		if decoder.Decode(&event) != nil {
			return
		}
		if event.M == "serving" {
			s.web, s.grpc = event.HTTP, event.GRPC
			close(ready)
		}
	}
}

// wait stops the server and checks the exit code. It may be called twice.
func (s *testServer) wait(want int) {
	s.shell.t.Helper()
	s.stop()
	code := <-s.exited
	s.exited <- code
	if code != want {
		s.shell.t.Errorf("the server ended with %d, want %d: %s", code, want, s.err.String())
	}
}

// get returns the status and body of the response to a GET request.
func (s *testServer) get(path, token string) (int, string) {
	s.shell.t.Helper()
	request, err := http.NewRequestWithContext(s.shell.t.Context(), http.MethodGet, s.web+path, nil)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.shell.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

var withTokens = []string{"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true"}

// TestServer walks through the setup of an installation: start, bootstrap token,
// import, evaluate, another token, stop, start again.
func TestServer(t *testing.T) {
	s := newShell(t, withTokens...)
	server := s.serve()
	var bootstrap string
	for line := range strings.Lines(server.text()) {
		var event struct{ M, Token string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if event.M == "bootstrap token created" {
			bootstrap = event.Token
		}
	}
	if !strings.HasPrefix(bootstrap, "gdn_") {
		t.Fatalf("no bootstrap token in the log:\n%s", server.text())
	}
	if code, body := server.get("/health", ""); code != http.StatusOK || !strings.Contains(body, "SERVING") {
		t.Errorf("health: got %d %s", code, body)
	}
	if code, body := server.get("/meta/config", bootstrap); code != http.StatusOK || !strings.Contains(body, `"required":true`) {
		t.Errorf("configuration: got %d %s", code, body)
	}

	s.fails(cli.ExitFailure, []string{"import", shop, "--address", server.web}, "request was not authenticated", "GUIDON_TOKEN")
	known := s.with("GUIDON_TOKEN=" + bootstrap)
	known.ok("import", shop, "--address", server.web)
	want, err := os.ReadFile(shop)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{server.web, server.grpc} {
		if got := known.ok("export", "--all-namespaces", "-a", address); got != string(want) {
			t.Errorf("export from %s differs from the imported file", address)
		}
		if got := known.ok("import", shop, "--update", "-a", address); !strings.Contains(got, "default: 0 created, 0 updated, 0 deleted") {
			t.Errorf("second import to %s prints %q", address, got)
		}
		if got := known.ok("evaluate", "checkout-redesign", "-e", "u", "-a", address); !strings.Contains(got, `"flagKey": "checkout-redesign"`) {
			t.Errorf("evaluate at %s prints %s", address, got)
		}
		token := strings.TrimSpace(known.ok("token", "create", "limited", "-n", "warehouse", "-a", address))
		limited := s.file("token", token+"\n")
		s.ok("export", "--namespaces", "warehouse", "-a", address, "--token-file", limited)
		s.fails(cli.ExitFailure, []string{"export", "-a", address, "-t", token}, "not authenticated")
	}
	if code, body := server.get("/metrics", bootstrap); code != http.StatusOK ||
		!strings.Contains(body, "guidon_evaluations_requests_total") || !strings.Contains(body, "guidon_cache_hit_total") {
		t.Errorf("metrics: got %d %s", code, body)
	}

	// Commands can read next to a running server, but not write.
	if got := s.ok("export", "--all-namespaces"); got != string(want) {
		t.Error("export next to the server differs from the imported file")
	}
	s.fails(cli.ExitFailure, []string{"import", shop, "--update"}, "in use by process", "--address")
	s.fails(cli.ExitFailure, []string{"token", "create", "x"}, "in use by process", "--address")
	s.fails(cli.ExitFailure, []string{"cleanup"}, "in use by process", "automatically")
	s.fails(cli.ExitFailure, []string{"reader", "delete", "r"}, "in use by process", "stop that server first")
	s.ok("reader", "list")
	s.fails(cli.ExitFailure, []string{"server"}, "in use by process")

	server.wait(cli.ExitOK)
	again := s.serve()
	if strings.Contains(again.text(), "bootstrap token created") {
		t.Error("the second start created another bootstrap token")
	}
	if got := known.ok("export", "--all-namespaces", "-a", again.web); got != string(want) {
		t.Error("the export differs after the restart")
	}
}

// TestBootstrapSecret: a configured token works and is never logged
// (operations 1.5).
func TestBootstrapSecret(t *testing.T) {
	const secret = "hunter2-hunter2"
	s := newShell(t, withTokens...)
	server := s.with("GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN_FILE="+s.file("secret", secret+"\n"),
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_METADATA_Role=admin", "GUIDON_LOG_LEVEL=debug").serve()
	code, body := server.get("/auth/v1/self", secret)
	if code != http.StatusOK || !strings.Contains(body, `"role":"admin"`) {
		t.Errorf("self: got %d %s", code, body)
	}
	_, settings := server.get("/meta/config", secret)
	if log := server.text(); !strings.Contains(log, "bootstrap token created") || strings.Contains(log+settings, secret) {
		t.Errorf("the secret is in the log or in /meta/config, or nothing was logged:\n%s%s", log, settings)
	}
}

// TestServerSettings checks configuration keys that change what is served.
func TestServerSettings(t *testing.T) {
	s := newShell(t)
	file := filepath.Join(t.TempDir(), "log")
	server := s.with("GUIDON_METRICS_ENABLED=false", "GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true", "GUIDON_CORS_ENABLED=true",
		"GUIDON_LOG_KEYS_MESSAGE=M").serve()
	for path, want := range map[string]int{"/metrics": http.StatusNotFound, "/debug/pprof/cmdline": http.StatusForbidden, "/auth/v1/method": http.StatusOK} {
		if code, _ := server.get(path, ""); code != want {
			t.Errorf("%s: got %d, want %d", path, code, want)
		}
	}
	if !strings.Contains(server.text(), "the profiler is enabled but cannot be reached") {
		t.Error("no warning that the profiler cannot be reached")
	}
	s.fails(cli.ExitFailure, []string{"token", "create", "x", "-a", server.web}, "authentication.methods.token.enabled")

	// Two servers cannot share a port.
	port := server.web[strings.LastIndexByte(server.web, ':')+1:]
	other := newShell(t, "GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_GRPC_PORT=0", "GUIDON_LOG_FILE="+file)
	other.with("GUIDON_SERVER_HTTP_PORT="+port).fails(cli.ExitFailure, []string{"server"}, "address already in use")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"M":"database ready"`) {
		t.Errorf("log file: got %q, error %v", text, err)
	}
}

// TestFailureLimit: failed credentials are limited and counted as configured. On this
// machine they are not limited by default.
func TestFailureLimit(t *testing.T) {
	const secret, one = "hunter2-hunter2", "GUIDON_AUTHENTICATION_FAILURE_LIMIT_PER_ADDRESS=1"
	for name, test := range map[string]struct {
		settings  []string
		forwarded string
		limited   bool
	}{
		"by default":                    {nil, "", false},
		"on this machine":               {[]string{one, "GUIDON_AUTHENTICATION_FAILURE_LIMIT_LOOPBACK=true"}, "", true},
		"in total":                      {[]string{"GUIDON_AUTHENTICATION_FAILURE_LIMIT_PER_ADDRESS=0", "GUIDON_AUTHENTICATION_FAILURE_LIMIT_TOTAL=1", "GUIDON_AUTHENTICATION_FAILURE_LIMIT_LOOPBACK=true"}, "", true},
		"behind a proxy":                {[]string{one, "GUIDON_SERVER_TRUSTED_PROXIES=10.0.0.0/8 127.0.0.1"}, "192.0.2.1, 10.0.0.1", true},
		"behind one that is not listed": {[]string{one, "GUIDON_SERVER_TRUSTED_PROXIES=10.0.0.0/8"}, "192.0.2.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := newShell(t, withTokens...).with(append(test.settings, "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+secret)...).serve()
			limited := false
			for range 200 {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.web+"/api/v1/namespaces", nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Authorization", "Bearer nope")
				if test.forwarded != "" {
					request.Header.Set("X-Forwarded-For", test.forwarded)
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				limited = limited || response.StatusCode == http.StatusTooManyRequests
			}
			if limited != test.limited {
				t.Errorf("limited: %t, want %t", limited, test.limited)
			}
			code, metrics := server.get("/metrics", secret)
			if counted := !strings.Contains(metrics, `guidon_failed_credentials_total{result="limited"} 0`); code != http.StatusOK || counted != test.limited {
				t.Errorf("metrics: got %d, counted as limited: %t", code, counted)
			}
		})
	}
}

// TestRequestLimit: the evaluation requests of a token are limited if that is configured.
func TestRequestLimit(t *testing.T) {
	const secret = "hunter2-hunter2"
	for name, test := range map[string]struct {
		settings []string
		limited  bool
	}{
		"by default": {nil, false},
		"configured": {[]string{"GUIDON_AUTHENTICATION_REQUEST_LIMIT_PER_TOKEN=1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := newShell(t, withTokens...).with(append(test.settings, "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+secret)...).serve()
			limited := false
			for range 200 {
				code, _ := server.get("/internal/v1/evaluation/snapshot/namespace/default", secret)
				limited = limited || code == http.StatusTooManyRequests
			}
			if limited != test.limited {
				t.Errorf("limited: %t, want %t", limited, test.limited)
			}
			if code, body := server.get("/api/v1/namespaces", secret); code != http.StatusOK {
				t.Errorf("the management API: got %d %s", code, body)
			}
		})
	}
}

// TestEvaluationsLogged: evaluations are logged if configured, and always counted in
// the metrics.
func TestEvaluationsLogged(t *testing.T) {
	const enabled, entities = "GUIDON_LOG_EVALUATIONS_ENABLED=true", "GUIDON_LOG_EVALUATIONS_ENTITIES=true"
	for name, test := range map[string]struct {
		settings      []string
		logged, named bool
	}{
		"by default":    {nil, false, false},
		"enabled":       {[]string{enabled}, true, false},
		"with entities": {[]string{enabled, entities}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := newShell(t).with(append(test.settings, "GUIDON_LOG_ENCODING=json", "GUIDON_METRICS_PUBLIC=true")...).serve()
			response, err := http.Post(server.web+"/evaluate/v1/boolean", "application/json", strings.NewReader(`{"flagKey":"nope","entityId":"somebody"}`)) // #nosec G107 -- our own
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			log := server.text()
			logged, named := strings.Contains(log, `"M":"feature_flag.evaluation"`), strings.Contains(log, "somebody")
			if logged != test.logged || named != test.named {
				t.Errorf("got logged %t, with the entity %t; want %t, %t\n%s", logged, named, test.logged, test.named, log)
			}
			if _, metrics := server.get("/metrics", ""); !strings.Contains(metrics, `guidon_evaluations_errors_total{flag="",namespace=""} 1`) {
				t.Error("the evaluation is not counted")
			}
		})
	}
}

// TestLogForms: the log is text for people, or JSON with the names of log.keys for
// machines.
func TestLogForms(t *testing.T) {
	for encoding, want := range map[string]string{
		"console": `msg="database ready"`,
		"json":    `"message":"database ready"`,
		"auto":    `"message":"database ready"`, // a buffer is not a terminal
	} {
		s := newShell(t, "GUIDON_LOG_ENCODING="+encoding, "GUIDON_LOG_KEYS_MESSAGE=message", "GUIDON_LOG_KEYS_TIME=when", "GUIDON_SERVER_HOST=256.0.0.1")
		r := s.run("server")
		if r.code != cli.ExitFailure || !strings.Contains(r.out, want) {
			t.Errorf("%s: got exit code %d and log %q, want it to contain %q", encoding, r.code, r.out, want)
		}
		if encoding == "json" && !strings.Contains(r.out, `"when":"`) {
			t.Errorf("log %q lacks the time", r.out)
		}
	}
}

// TestMigrateOnStart: the error of a server that must not migrate contains the command
// to run.
func TestMigrateOnStart(t *testing.T) {
	s := newEmptyShell(t, "GUIDON_DB_MIGRATE_ON_START=false")
	s.fails(cli.ExitFailure, []string{"server"}, "the database lacks", "guidon migrate up")
	s.ok("migrate", "up")
	s.serve()
}

// TestStartTimeout: a starting server waits for an unavailable database no longer than
// configured, and logs it. The password is neither in the log nor in the error.
func TestStartTimeout(t *testing.T) {
	s := newShell(t, "GUIDON_DB_START_TIMEOUT=700ms")
	for _, database := range []string{
		"postgres://user:hunter2@127.0.0.1:1/guidon?connect_timeout=2", "mysql://user:hunter2@127.0.0.1:1/guidon", "user:hunter2@tcp(127.0.0.1:1)/guidon",
	} {
		s := s.with("GUIDON_DB_URL=" + database)
		r := s.run("server")
		if r.code != cli.ExitFailure || !strings.Contains(r.out, `"M":"cannot reach the database yet"`) || !strings.Contains(r.out, `"M":"server failed"`) || r.err != "" {
			t.Errorf("server on %s: got exit code %d, log %s and %q, want the error once", database, r.code, r.out, r.err)
		}
		up := s.run("migrate", "up")
		if up.code != cli.ExitFailure || !strings.Contains(up.err, "the database cannot be reached") {
			t.Errorf("migrate up on %s: got exit code %d and %s", database, up.code, up.err)
		}
		if strings.Contains(r.out+r.err+up.out+up.err, "hunter2") {
			t.Errorf("%s: the password is shown", database)
		}
	}
}

// TestLargeNamespaceOverTheNetwork: a namespace that can be imported locally can also
// be imported and exported over HTTP, with more values than other bodies may have.
func TestLargeNamespaceOverTheNetwork(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: \"1.4\"\nnamespace:\n  key: large\n  name: Large\nflags:\n")
	for i := range 6000 {
		fmt.Fprintf(&text, `  - key: f%d
    name: f%d
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants:
      - key: a
      - key: b
    rules:
      - segment: s
        distributions:
          - variant: a
            rollout: 50
          - variant: b
            rollout: 50
`, i, i)
	}
	text.WriteString("segments:\n  - key: s\n    name: s\n    match_type: ALL_MATCH_TYPE\n")
	s := newShell(t)
	server := s.serve()
	s.ok("import", s.file("large.yaml", text.String()), "--address", server.web)
	if got := s.ok("export", "--namespaces", "large", "--address", server.web); got != text.String() {
		t.Error("the export differs from the imported file")
	}
	server.stop()
	server.wait(cli.ExitOK)
}

// TestConsoleLog: the log has colors on a terminal that shows them.
func TestConsoleLog(t *testing.T) {
	const colored, plain = "\x1b[92mINF\x1b[0m database ready ", "INF database ready "
	for _, test := range []struct{ name, variable, want, not string }{
		{"colors", "TERM=xterm", colored, "level=INFO"},
		{"no colors", "NO_COLOR=1", plain, "\x1b"},
		{"a terminal without colors", "TERM=dumb", plain, "\x1b"},
		{"JSON", "GUIDON_LOG_ENCODING=json", `"M":"database ready"`, "\x1b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, err bytes.Buffer
			s := newShell(t, test.variable, "GUIDON_SERVER_HOST=256.0.0.1")
			p := cli.NewProgram(s.environ, strings.NewReader(""), &out, &err)
			p.Terminal = func(stream any) bool { return stream == any(&out) }
			if code := p.Run(t.Context(), []string{"server"}, root); code != cli.ExitFailure {
				t.Errorf("got exit code %d", code)
			}
			if got := out.String(); !strings.Contains(got, test.want) || strings.Contains(got, test.not) {
				t.Errorf("got %q, want %q and not %q", got, test.want, test.not)
			}
		})
	}
}

// TestFirstAudit: a sink gets everything since the start that it was configured for.
func TestFirstAudit(t *testing.T) {
	got := make(chan string, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	t.Cleanup(sink.Close)
	s := newShell(t, append(withTokens, "GUIDON_AUDIT_SINKS_WEBHOOK_ENABLED=true", "GUIDON_AUDIT_SINKS_WEBHOOK_URL="+sink.URL)...)
	server := s.serve() // which creates the first token
	server.wait(cli.ExitOK)
	s.serve()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case body := <-got:
			if strings.Contains(body, `"kind":"authentication"`) {
				return
			}
		case <-deadline:
			t.Fatal("the sink has not got the record of the first token")
		}
	}
}
