package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// nowhere is the URL of a database server that does not exist.
const nowhere = "GUIDON_DB_URL=postgres://guidon:hunter2@127.0.0.1:1/guidon"

// TestUnsupported: all settings that only a server supports are reported together.
func TestUnsupported(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    []string
	}{
		{nil, []string{"db.url"}},
		{[]string{"GUIDON_DB_URL=file:/tmp/guidon.db", "GUIDON_DB_MIGRATE_ON_START=true", "GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true",
			"GUIDON_AUDIT_SINKS_KAFKA_ENABLED=true", "GUIDON_AUDIT_SINKS_KAFKA_TOPIC=t", "GUIDON_AUDIT_SINKS_KAFKA_BOOTSTRAP_SERVERS=b:9092"},
			[]string{"must be the URL of a database server", migrateEvent, "diagnostics.profiling.enabled", "audit.sinks.kafka.enabled"}},
		{[]string{nowhere, "GUIDON_LAMBDA_BASE_PATH=?"}, []string{"lambda.base_path"}},
		{[]string{"GUIDON_DB_URL=postgres://guidon:hunter2@[/guidon"}, []string{"database URL"}},
	} {
		_, err := newFunction(tt.environ, "", new(bytes.Buffer))
		if err == nil {
			t.Errorf("%s: no error", tt.environ)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: got %v, want %s", tt.environ, err, want)
			}
		}
	}
}

// TestWithoutDatabase: the function starts without a database. Health then succeeds,
// and requests that need the database get 503 with Retry-After.
func TestWithoutDatabase(t *testing.T) {
	var log bytes.Buffer
	f, err := newFunction([]string{nowhere, "GUIDON_LAMBDA_BASE_PATH=/flags", "GUIDON_LOG_LEVEL=debug"}, "", &log)
	if err != nil {
		t.Fatal(err)
	}
	front := lambdatest.HTTPAPI("prod")
	for path, want := range map[string]int{
		"/flags/health": http.StatusOK, "/flags/openapi.yaml": http.StatusOK, "/flags/metrics": http.StatusNotFound,
		"/flags/debug/pprof/": http.StatusNotFound, "/flags/api/v1/namespaces": http.StatusServiceUnavailable,
		"/flags/meta/info": http.StatusServiceUnavailable,
	} {
		event, err := front.Event(httptest.NewRequest(http.MethodGet, path, nil))
		if err != nil {
			t.Fatal(err)
		}
		payload, err := f.Invoke(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		if err := front.WriteResponse(w, payload); err != nil {
			t.Fatal(err)
		}
		if w.Code != want || (w.Code == http.StatusServiceUnavailable) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s: got %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	for _, job := range []string{"cleanup", "tick"} {
		if _, err := f.Invoke(t.Context(), []byte(`{"guidon":"`+job+`"}`)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got error %v", job, err)
		}
	}
	if text := log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, `/flipt.Flipt/ListNamespaces`) {
		t.Errorf("got the log %s", text)
	}
}

// TestConfigFile: the file in the function's directory is read, if there is one.
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	if got := configFile(dir); got != "" {
		t.Errorf("without a file: got %s", got)
	}
	if got := configFile(""); got != "" {
		t.Errorf("without a directory: got %s", got)
	}
	path := filepath.Join(dir, "guidon.yml")
	if err := os.WriteFile(path, []byte("db:\n  url: file:/tmp/guidon.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newFunction(nil, configFile(dir), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "must be the URL of a database server") {
		t.Errorf("got error %v, want the problem in the file", err)
	}
}
