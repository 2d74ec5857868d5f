package cluster

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/integration/harness"
)

// metricName matches the names of metrics in an expression.
var metricName = regexp.MustCompile(`\b(guidon|grpc|go|process)_[a-z0-9_]+`)

// notMetrics are labels that look like metrics.
var notMetrics = map[string]bool{"grpc_service": true, "grpc_method": true, "grpc_type": true, "grpc_code": true}

// TestDashboard: a server that uses everything has every metric of the dashboard and of the
// alerts, and promtool finds no mistake in the latter.
func TestDashboard(t *testing.T) {
	const codehost = "GUIDON_AUTHENTICATION_METHODS_CODEHOST_"
	harness.Postgres.Need(t)
	server := harness.Start(t, harness.Postgres.Migrated(t), append(harness.ThroughRedis(harness.StartRedis(t).URL),
		"GUIDON_METRICS_PUBLIC=true", "GUIDON_SERVER_PUBLIC_URL=http://127.0.0.1:8080", "GUIDON_AUTHENTICATION_REQUIRED=false",
		codehost+"ENABLED=true", codehost+"CLIENT_ID=guidon", codehost+"CLIENT_SECRET=secret", codehost+"ALLOWED_ORGANIZATIONS=acme",
		"GUIDON_AUDIT_SINKS_LOG_ENABLED=true")...)
	server.Must(t, http.MethodPost, "/api/v1/flags", map[string]any{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE"}, nil)
	server.Must(t, http.MethodPost, "/evaluate/v1/boolean", map[string]any{"flagKey": "f", "entityId": "e"}, nil)
	metrics := deliveringMetrics(t, server)
	infra := filepath.Join(harness.ModuleDir(t), "infra")
	for _, file := range []string{filepath.Join(infra, "grafana", "guidon.json"), filepath.Join(infra, "prometheus", "alerts.yaml")} {
		found := 0
		for _, expression := range expressions(t, file) {
			for _, name := range metricName.FindAllString(expression, -1) {
				if notMetrics[name] {
					continue
				}
				found++
				if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).Match(metrics) {
					t.Errorf("%s: no server has %s", file, name)
				}
			}
		}
		if found < 10 {
			t.Errorf("%s has only %d metrics", file, found)
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		harness.Skip(t, "no promtool")
	}
	rules := exec.CommandContext(t.Context(), promtool, "check", "rules", "alerts.yaml")
	rules.Dir = filepath.Join(harness.ModuleDir(t), "infra", "prometheus")
	if out, err := rules.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// deliveringMetrics returns the metrics of the server when it has begun to deliver changes.
func deliveringMetrics(t *testing.T, server *harness.Server) []byte {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
		metrics := server.Must(t, http.MethodGet, "/metrics", nil, nil).Body
		if bytes.Contains(metrics, []byte("guidon_reader_behind_seconds{")) && bytes.Contains(metrics, []byte("guidon_webhooks{")) {
			return metrics
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not deliver")
		}
	}
}

// expressions returns the values of all members "expr" in the file.
func expressions(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var content any
	if filepath.Ext(file) == ".json" {
		err = json.Unmarshal(text, &content)
	} else {
		err = yaml.Unmarshal(text, &content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return collect(content)
}

func collect(content any) (found []string) {
	switch v := content.(type) {
	case map[string]any:
		for name, inner := range v {
			if text, ok := inner.(string); ok && name == "expr" {
				found = append(found, text)
			}
			found = append(found, collect(inner)...)
		}
	case []any:
		for _, inner := range v {
			found = append(found, collect(inner)...)
		}
	}
	return found
}
