package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

func newWebhooks(t *testing.T) *service.Service {
	t.Helper()
	db := newStore(t)
	return service.NewService(db, time.Now).WithWebhooks(&service.Webhooks{Store: db})
}

func usualWebhook() service.WebhookInput {
	return service.WebhookInput{
		Name: "n", URL: "https://receiver.example:8443/path?secret=query-secret", Headers: map[string]string{"authorization": "Bearer header-secret"},
	}
}

func mustWebhook(t *testing.T, s *service.Service, namespace string, in service.WebhookInput) (*service.Webhook, string) {
	t.Helper()
	view, secret, err := s.CreateWebhook(t.Context(), service.Write{}, namespace, in)
	if err != nil {
		t.Fatal(err)
	}
	return view.Webhook, secret
}

// TestWebhookRules: errors name the field and the rule, and never a value that may be secret.
func TestWebhookRules(t *testing.T) {
	s := newWebhooks(t)
	many := map[string]string{}
	for n := range 11 {
		many[fmt.Sprint("X-", n)] = "v"
	}
	for name, tt := range map[string]struct {
		namespace string
		change    func(in *service.WebhookInput)
		want      string
	}{
		"no name":         {"default", func(in *service.WebhookInput) { in.Name = "" }, "invalid field name: must not be empty"},
		"a long name":     {"default", func(in *service.WebhookInput) { in.Name = strings.Repeat("a", 101) }, "invalid field name"},
		"a hidden name":   {"default", func(in *service.WebhookInput) { in.Name = "a\u202eb" }, "invalid field name"},
		"no URL":          {"default", func(in *service.WebhookInput) { in.URL = "" }, "invalid field url: must not be empty"},
		"no host":         {"default", func(in *service.WebhookInput) { in.URL = "https:///secret" }, "invalid field url"},
		"a relative URL":  {"default", func(in *service.WebhookInput) { in.URL = "/secret" }, "invalid field url"},
		"opaque":          {"default", func(in *service.WebhookInput) { in.URL = "https:secret.example" }, "invalid field url"},
		"http":            {"default", func(in *service.WebhookInput) { in.URL = "http://receiver.example/secret" }, "must be https (see webhooks.allow_http)"},
		"another scheme":  {"default", func(in *service.WebhookInput) { in.URL = "gopher://receiver.example/secret" }, "invalid field url: must be https"},
		"a file":          {"default", func(in *service.WebhookInput) { in.URL = "file:///etc/secret" }, "invalid field url"},
		"a user":          {"default", func(in *service.WebhookInput) { in.URL = "https://secret@receiver.example" }, "must not contain a user name"},
		"a fragment":      {"default", func(in *service.WebhookInput) { in.URL = "https://receiver.example/#secret" }, "must not have a fragment"},
		"a line break":    {"default", func(in *service.WebhookInput) { in.URL = "https://receiver.example/\r\nsecret: x" }, "invalid field url"},
		"a long URL":      {"default", func(in *service.WebhookInput) { in.URL = "https://a/" + strings.Repeat("secret", 400) }, "must not be longer than 2048"},
		"a bad port":      {"default", func(in *service.WebhookInput) { in.URL = "https://a:secret/" }, "invalid field url"},
		"an event":        {"default", func(in *service.WebhookInput) { in.Events = []service.Event{"secret"} }, "invalid field events: must be change"},
		"an event of all": {"default", func(in *service.WebhookInput) { in.Events = []service.Event{"binding"} }, "invalid field events: must be change"},
		"unknown of all":  {"*", func(in *service.WebhookInput) { in.Events = []service.Event{"x"} }, "must be change, authentication, binding or webhook"},
		"a kind":          {"default", func(in *service.WebhookInput) { in.Kinds = []change.Kind{"token"} }, "invalid field kinds: must be namespace, flag or segment"},
		"an action":       {"default", func(in *service.WebhookInput) { in.Actions = []change.Action{"x"} }, "invalid field actions: must be create, update or delete"},
		"a key":           {"default", func(in *service.WebhookInput) { in.Keys = []string{"a*b"} }, "invalid field keys"},
		"an empty key":    {"default", func(in *service.WebhookInput) { in.Keys = []string{""} }, "invalid field keys"},
		"many keys":       {"default", func(in *service.WebhookInput) { in.Keys = make([]string, 101) }, "invalid field keys: must not be more than 100"},
		"a format":        {"default", func(in *service.WebhookInput) { in.Format = "xml" }, "invalid field format: must be guidon, cloudevents, slack, discord or teams"},
		"an event twice":  {"*", func(in *service.WebhookInput) { in.Events = []service.Event{"change", "change"} }, "invalid field events: must not repeat anything"},
		"a kind twice":    {"default", func(in *service.WebhookInput) { in.Kinds = []change.Kind{"flag", "flag"} }, "invalid field kinds: must not repeat anything"},
		"a namespace":     {"a b", func(*service.WebhookInput) {}, "invalid field namespaceKey"},
		"many headers":    {"default", func(in *service.WebhookInput) { in.Headers = many }, "must not be more than 10"},
		"a large header":  {"default", func(in *service.WebhookInput) { in.Headers["X"] = strings.Repeat("a", 9<<10) }, "must not be larger than 8192"},
		"no header value": {"default", func(in *service.WebhookInput) { in.Headers["X"] = "" }, "X must have a value"},
		"a broken value":  {"default", func(in *service.WebhookInput) { in.Headers["X"] = "secret\r\nY: z" }, "must be printable ASCII"},
		"a broken name":   {"default", func(in *service.WebhookInput) { in.Headers["X Y"] = "v" }, "is not the name of a header"},
		"a header twice":  {"default", func(in *service.WebhookInput) { in.Headers["Authorization"] = "v" }, "must not be repeated"},
		"host":            {"default", func(in *service.WebhookInput) { in.Headers["HOST"] = "v" }, "HOST cannot be set"},
		"content-length":  {"default", func(in *service.WebhookInput) { in.Headers["Content-Length"] = "1" }, "cannot be set"},
		"webhook-id":      {"default", func(in *service.WebhookInput) { in.Headers["webhook-id"] = "1" }, "cannot be set"},
		"transfer":        {"default", func(in *service.WebhookInput) { in.Headers["Transfer-Encoding"] = "chunked" }, "cannot be set"},
		"proxy":           {"default", func(in *service.WebhookInput) { in.Headers["Proxy-Authorization"] = "x" }, "cannot be set"},
		"flipt's own":     {"default", func(in *service.WebhookInput) { in.Headers["X-Flipt-Webhook-Signature"] = "x" }, "cannot be set"},
	} {
		in := usualWebhook()
		tt.change(&in)
		_, _, err := s.CreateWebhook(t.Context(), service.Write{}, tt.namespace, in)
		if wantCode(t, name, err, guidon.InvalidArgument); err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	if all, err := s.ListWebhooks(t.Context(), service.Everywhere); len(all) != 0 || err != nil {
		t.Errorf("got %v, %v, want none", all, err)
	}
}

// TestUpdateWebhook: what is left out stays, but no stored header goes to another host.
func TestUpdateWebhook(t *testing.T) {
	s := newWebhooks(t)
	h, _ := mustWebhook(t, s, "default", usualWebhook())
	update := func(in service.WebhookInput) (*service.Webhook, error) {
		view, err := s.UpdateWebhook(t.Context(), service.Write{}, "default", h.ID, in)
		return view.Webhook, err
	}
	got, err := update(service.WebhookInput{Name: "m", Headers: map[string]string{"AUTHORIZATION": ""}})
	if err != nil || got.Name != "m" || got.Private.URL != h.Private.URL || got.Private.Headers["Authorization"] != "Bearer header-secret" {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = update(service.WebhookInput{Name: "m", URL: "https://receiver.example:8443/other", Headers: map[string]string{"Authorization": ""}})
	if err != nil || got.Private.Headers["Authorization"] != "Bearer header-secret" {
		t.Errorf("another path of the host: got %+v, %v", got, err)
	}
	for _, url := range []string{"https://thief.example/", "https://receiver.example/", "https://receiver.example:8443.thief.example/"} {
		_, err = update(service.WebhookInput{Name: "m", URL: url, Headers: map[string]string{"Authorization": ""}})
		wantCode(t, url, err, guidon.InvalidArgument)
	}
	got, err = update(service.WebhookInput{Name: "m"})
	if err != nil || len(got.Headers)+len(got.Private.Headers) != 0 {
		t.Errorf("without headers: got %+v, %v", got, err)
	}
}

// TestWebhookAccess: a webhook exists only for admins of its namespace, and of everything.
func TestWebhookAccess(t *testing.T) {
	s := newWebhooks(t)
	_, _, err := s.CreateWebhook(t.Context(), service.Write{}, "shop", usualWebhook())
	wantCode(t, "without the namespace", err, guidon.NotFound)
	if _, _, err := s.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "shop", Name: "Shop"}); err != nil {
		t.Fatal(err)
	}
	shop, _ := mustWebhook(t, s, "shop", usualWebhook())
	all, _ := mustWebhook(t, s, service.Everywhere, usualWebhook())
	caller := func(in service.TokenInput) service.Caller {
		t.Helper()
		in.Name = "t"
		token, _, err := s.CreateToken(t.Context(), service.Write{}, in)
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", token)
		if err != nil {
			t.Fatal(err)
		}
		return service.Caller{Authentication: a}
	}
	for _, tt := range []struct {
		name       string
		by         service.Caller
		namespace  string // of the request, whose role the transport has checked
		shop, both bool
	}{
		{"nobody is asked", service.Caller{}, "*", true, true},
		{"an admin", caller(service.TokenInput{}), "*", true, true},
		{"an admin of shop", caller(service.TokenInput{Role: service.RoleAdmin, Namespaces: []string{"shop"}}), "shop", true, false},
		{"an admin of others", caller(service.TokenInput{Role: service.RoleAdmin, Namespaces: []string{"other"}}), "other", false, false},
		{"a token limited to shop", caller(service.TokenInput{Namespace: "shop"}), "shop", true, false},
		{"a token limited to another", caller(service.TokenInput{Namespace: "other"}), "other", false, false},
	} {
		for id, want := range map[string]bool{shop.ID: tt.shop, all.ID: tt.both} {
			w := service.Write{By: tt.by}
			_, read := s.Webhook(t.Context(), tt.by, tt.namespace, id)
			_, paused := s.PauseWebhook(t.Context(), w, tt.namespace, id)
			_, _, rotated := s.RotateWebhookSecret(t.Context(), w, tt.namespace, id, 0)
			_, listed := s.ListDeliveries(t.Context(), tt.by, tt.namespace, id, 0, 0)
			for _, err := range []error{read, paused, rotated, listed} {
				if got := err == nil; got != want || err != nil && guidon.CodeOf(err) != guidon.NotFound {
					t.Errorf("%s, %s: got %v, want allowed %v", tt.name, id, err, want)
				}
			}
		}
	}
}

// TestWebhookSecrets: neither lists nor records have what is secret.
func TestWebhookSecrets(t *testing.T) {
	s := newWebhooks(t)
	h, secret := mustWebhook(t, s, "default", usualWebhook())
	_, second, err := s.RotateWebhookSecret(t.Context(), service.Write{}, "default", h.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateWebhook(t.Context(), service.Write{}, "default", h.ID, service.WebhookInput{Name: "m", URL: "https://receiver.example/path-secret"}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteWebhook(t.Context(), service.Write{}, "default", h.ID); err != nil {
		t.Fatal(err)
	}
	records, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Kind: change.KindWebhook}}, "")
	if err != nil {
		t.Fatal(err)
	}
	var summaries []string
	for _, r := range records {
		summaries = append(summaries, r.Summary())
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{secret, second, "header-secret", "query-secret", "path-secret", "whsec"} {
			if strings.Contains(string(text)+r.Summary(), hidden) {
				t.Errorf("a record has %q: %s", hidden, text)
			}
		}
	}
	want := []string{
		"deleted (name m, namespaceKey default, host https://receiver.example, events change, format guidon, state active)",
		"name n → m; host https://receiver.example:8443 → https://receiver.example; headers removed (Authorization); private changed",
		"secret changed",
		"created (name n, namespaceKey default, host https://receiver.example:8443, events change, format guidon, headers Authorization, state active)",
	}
	if diff := cmp.Diff(want, summaries); diff != "" {
		t.Errorf("summaries (-want +got):\n%s", diff)
	}
}

// TestWebhookOfAnEarlierRelease: a record has no rotation that did not happen, and one that did is not the first secret.
func TestWebhookOfAnEarlierRelease(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithWebhooks(&service.Webhooks{Store: db})
	h, _ := mustWebhook(t, s, "default", usualWebhook())
	if _, err := db.SQL().ExecContext(t.Context(), `UPDATE webhooks SET body = json_remove(body, '$.secret')`); err != nil {
		t.Fatal(err)
	}
	_, pauseErr := s.PauseWebhook(t.Context(), service.Write{}, "default", h.ID)
	_, _, rotateErr := s.RotateWebhookSecret(t.Context(), service.Write{}, "default", h.ID, time.Hour)
	records, err := db.Changes(t.Context(), change.Query{Kind: change.KindWebhook, Limit: 2})
	if err := errors.Join(pauseErr, rotateErr, err); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"secret changed", "state active → paused"} {
		if got := records[i].Summary(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestListDeliveries: what was sent more than a week ago is not listed, also if nothing has been sent since.
func TestListDeliveries(t *testing.T) {
	db, now := newStore(t), time.Now()
	s := service.NewService(db, func() time.Time { return now }).WithWebhooks(&service.Webhooks{Store: db})
	h, _ := mustWebhook(t, s, "default", usualWebhook())
	for _, ago := range []time.Duration{service.KeepDeliveries - time.Hour, time.Hour} {
		a := &service.WebhookAttempt{WebhookDelivery: service.WebhookDelivery{Webhook: h.ID, At: now.Add(-ago)}}
		if err := db.RecordAttempt(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 1, 0} {
		got, err := s.ListDeliveries(t.Context(), service.Caller{}, "default", h.ID, 0, 0)
		if err != nil || len(got) != want {
			t.Errorf("at %s: got %d deliveries, %v, want %d", now, len(got), err, want)
		}
		now = now.Add(service.KeepDeliveries / 2)
	}
}

// TestMostWebhooks: there is a limit, and what is refused leaves no reader behind.
func TestMostWebhooks(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithWebhooks(&service.Webhooks{Store: db})
	for range 80 {
		mustWebhook(t, s, "default", usualWebhook())
	}
	_, _, err := s.CreateWebhook(t.Context(), service.Write{}, "default", usualWebhook())
	wantCode(t, "one more", err, guidon.FailedPrecondition)
	if readers, err := db.Readers(t.Context()); len(readers) != 80 || err != nil {
		t.Errorf("got %d readers, %v, want 80", len(readers), err)
	}
}

// TestWebhookDryRun: a dry run stores nothing.
func TestWebhookDryRun(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithWebhooks(&service.Webhooks{Store: db})
	if _, _, err := s.CreateWebhook(t.Context(), service.Write{DryRun: true}, "default", usualWebhook()); err != nil {
		t.Fatal(err)
	}
	readers, err := db.Readers(t.Context())
	if all, _ := s.ListWebhooks(t.Context(), "default"); len(all)+len(readers) != 0 || err != nil {
		t.Errorf("got %v, %v, %v, want nothing", all, readers, err)
	}
}

// TestDetachedWebhook: one that has lost its reader gets a new one when it is resumed, and cannot be replayed before.
func TestDetachedWebhook(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now).WithWebhooks(&service.Webhooks{Store: db})
	h, _ := mustWebhook(t, s, "default", usualWebhook())
	if _, err := s.PauseWebhook(t.Context(), service.Write{}, "default", h.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DetachWebhook(t.Context(), h.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DetachWebhook(t.Context(), h.ID); err != nil {
		t.Errorf("another instance: %v", err)
	}
	if err := s.DetachWebhook(t.Context(), "deleted"); err != nil {
		t.Errorf("a deleted webhook: %v", err)
	}
	_, err := s.ReplayWebhook(t.Context(), service.Write{}, "default", h.ID, 1)
	wantCode(t, "replay", err, guidon.FailedPrecondition)
	view, err := s.ResumeWebhook(t.Context(), service.Write{}, "default", h.ID)
	if readers, _ := db.Readers(t.Context()); err != nil || view.Detached || len(readers) != 1 {
		t.Errorf("got %+v, %v, %v", view.Webhook, readers, err)
	}
	for name, tt := range map[string]struct {
		namespace string
		revision  int64
	}{"another namespace": {"other", 1}, "no revision": {"default", 0}} {
		_, err := s.ReplayWebhook(t.Context(), service.Write{}, tt.namespace, h.ID, tt.revision)
		wantCode(t, name, err, guidon.InvalidArgument)
	}
	if err := s.DetachWebhook(t.Context(), h.ID); err != nil { // by an instance that has not seen that it is active again
		t.Fatal(err)
	}
	view, err = s.Webhook(t.Context(), service.Caller{}, "default", h.ID)
	if readers, _ := db.Readers(t.Context()); err != nil || view.Detached || len(readers) != 1 {
		t.Errorf("an active one: got %+v, %v, %v", view.Webhook, readers, err)
	}
}
