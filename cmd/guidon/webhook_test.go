package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestWebhookCommands follows the life cycle of a webhook.
func TestWebhookCommands(t *testing.T) {
	got := make(chan *http.Request, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got <- q }))
	t.Cleanup(receiver.Close)
	local := newShell(t)
	local.environ = append(local.environ, "GUIDON_WEBHOOKS_ALLOW_HTTP=true", "GUIDON_WEBHOOKS_ALLOWED_NETWORKS=127.0.0.0/8")
	local.ok("migrate", "up")
	created := local.ok("webhook", "create", "deployments", receiver.URL+"/secret-path", "--on", "default", "--key", "pay-*", "--header", "X-Key=secret-value", "--output=json")
	var hook struct {
		ID      string            `json:"id"`
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
	}
	if err := json.Unmarshal([]byte(created), &hook); err != nil || !strings.HasPrefix(hook.Secret, "whsec_") || strings.Contains(created, "secret-") {
		t.Fatalf("got %s, %v", created, err)
	}
	list := local.ok("webhook", "list")
	if !regexp.MustCompile(hook.ID + ` +deployments +default +` + receiver.URL + ` +change +guidon +active`).MatchString(list) {
		t.Errorf("got:\n%s", list)
	}
	if got := local.ok("webhook", "list", "--on", "other", "-o", "json"); got != "[]\n" {
		t.Errorf("of another namespace: got %s", got)
	}
	if tested := local.ok("webhook", "test", hook.ID); !regexp.MustCompile(`1 .* test +1 +200`).MatchString(tested) {
		t.Errorf("got:\n%s", tested)
	}
	if q := <-got; q.Header.Get("X-Key") != "secret-value" || q.URL.Path != "/secret-path" {
		t.Errorf("got %s %v", q.URL, q.Header)
	}
	updated := local.ok("webhook", "update", hook.ID, "--name", "deploys", "--key", "", "--output=json")
	if !strings.Contains(updated, `"name": "deploys"`) || strings.Contains(updated, "pay-") || !strings.Contains(updated, `"X-Key"`) {
		t.Errorf("got %s", updated)
	}
	if rotated := local.ok("webhook", "rotate", hook.ID, "--overlap", "1h"); !strings.Contains(rotated, "not shown again: whsec_") {
		t.Errorf("got %s", rotated)
	}
	local.ok("webhook", "pause", hook.ID)
	if list := local.ok("webhook", "list"); !strings.Contains(list, "paused") {
		t.Errorf("got:\n%s", list)
	}
	local.ok("webhook", "resume", hook.ID)
	local.ok("webhook", "replay", hook.ID, "default@1")
	local.ok("flag", "create", "a", "--name", "A")
	if q := local.ok("webhook", "deliveries", hook.ID); strings.Count(q, "\n") != 2 {
		t.Errorf("got:\n%s", q)
	}
	local.fails(cli.ExitFailure, []string{"webhook", "pause", "nope"}, `webhook "nope" not found`)
	local.fails(cli.ExitUsage, []string{"webhook", "replay", hook.ID, "default"}, "such as default@412")
	local.fails(cli.ExitUsage, []string{"webhook", "create", "x"}, "missing argument <url>")
	local.fails(cli.ExitFailure, []string{"webhook", "create", "x", "ftp://x"}, "invalid field url: must be https")
	if got := local.ok("webhook", "delete", hook.ID); got != "deleted webhook "+hook.ID+"\n" {
		t.Errorf("got %s", got)
	}
}
