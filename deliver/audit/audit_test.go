package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/webhook"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// output is a file that can fail.
type output struct {
	mu     sync.Mutex
	text   bytes.Buffer
	failed int // how many writes fail
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed > 0 {
		o.failed--
		return 0, errors.New("disk full")
	}
	return o.text.Write(p)
}

func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Split(strings.TrimSuffix(o.text.String(), "\n"), "\n")
}

func mustFilter(t *testing.T, events ...string) Filter {
	t.Helper()
	filter, _, err := ParseFilter(events)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// run delivers to the sinks until the test ends.
func run(t *testing.T, db *store.DB, sinks ...*Sink) {
	t.Helper()
	var targets []deliver.Target
	for _, s := range sinks {
		if err := db.RegisterReader(t.Context(), s.Reader()); err != nil { // from now on
			t.Fatal(err)
		}
		targets = append(targets, s)
	}
	all := func(context.Context) ([]deliver.Target, error) { return targets, nil }
	runner := deliver.NewRunner("audit", db, all, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := runner.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 seconds", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The sink log writes a line for each record, of all namespaces and of none, and tries again what fails.
func TestLog(t *testing.T) {
	db := storetest.NewSQLite(t)
	s := service.NewService(db, time.Now)
	if _, _, err := s.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "before", Name: "b"}); err != nil {
		t.Fatal(err)
	}
	out := &output{failed: 1}
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	run(t, db, NewSink("log", &Lines{LineEncoder{webhook.Encoder{Format: service.FormatGuidon}}, out}, mustFilter(t, "*:created", "flag:*"), db, logger))
	if _, _, err := s.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "a", Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteFlag(t.Context(), service.Write{}, "default", "a"); err != nil {
		t.Fatal(err)
	}
	token, _, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "three lines", func() bool { return len(out.lines()) >= 3 })
	var got []string
	for _, line := range out.lines() {
		var event struct {
			Type string
			Data struct {
				Namespace string
				Changes   []struct{ Kind, Action string }
			}
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event.Data.Changes) != 1 || strings.Contains(line, token) {
			t.Fatalf("got %q, %v", line, err)
		}
		if event.Data.Namespace != "" || event.Data.Changes[0].Kind == "authentication" {
			got = append(got, event.Type+" "+event.Data.Namespace+" "+event.Data.Changes[0].Action)
		}
	}
	// Those of the token and of the namespace come in any order.
	text := strings.Join(got, "\n")
	for _, want := range []string{"change default create", "change default delete", "authentication  create"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(got) != 3 || strings.Index(text, "default create") > strings.Index(text, "default delete") {
		t.Errorf("got %q", got)
	}
}

// The sink webhook signs, may use the own network, and is never given up.
func TestWebhook(t *testing.T) {
	db := storetest.NewSQLite(t)
	s := service.NewService(db, time.Now)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 10)
	status := []int{http.StatusGone, http.StatusOK}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status[0])
		status = status[1:]
		got <- verifier.Verify(body, q.Header)
	}))
	defer receiver.Close()
	sender := &webhook.Sender{
		Encoder: webhook.Encoder{Format: service.FormatCloudEvents}, Client: webhook.NewClient(webhook.ClientConfig{Anywhere: true}),
		Name: "audit.webhook", URL: receiver.URL, Secrets: []string{secret},
	}
	run(t, db, NewSink("webhook", sender, mustFilter(t, "flag:created"), db, slog.New(slog.NewTextHandler(t.Output(), nil))))
	if _, _, err := s.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "a", Name: "a"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was delivered")
		}
	}
	eventually(t, "the reader has passed it", func() bool {
		changed, err := db.ChangedNamespaces(t.Context(), "audit.webhook", "", 10)
		return err == nil && len(changed) == 0
	})
}

func TestFilter(t *testing.T) {
	record := func(kind change.Kind, action change.Action) *change.Record {
		return &change.Record{Kind: kind, Action: action}
	}
	for _, tt := range []struct {
		events string
		record *change.Record
		want   bool
	}{
		{"*:*", record(change.KindBinding, change.ActionDelete), true},
		{"flag:*", record(change.KindFlag, change.ActionUpdate), true},
		{"flag:*", record(change.KindSegment, change.ActionUpdate), false},
		{"*:deleted", record(change.KindWebhook, change.ActionDelete), true},
		{"*:deleted", record(change.KindWebhook, change.ActionUpdate), false},
		{"token:created", record(change.KindAuthentication, change.ActionCreate), true},
		{"rule:deleted", record(change.KindFlag, change.ActionUpdate), true},
		{"rule:deleted", record(change.KindFlag, change.ActionDelete), false},
		{"segment:created constraint:*", record(change.KindSegment, change.ActionUpdate), true},
		{"", record(change.KindFlag, change.ActionUpdate), false},
	} {
		filter, _, err := ParseFilter(strings.Fields(tt.events))
		if got := filter.Selects(tt.record); got != tt.want || err != nil {
			t.Errorf("%s, %s %s: got %v, %v, want %v", tt.events, tt.record.Kind, tt.record.Action, got, err, tt.want)
		}
	}
	_, ofParts, err := ParseFilter([]string{"flag:created", "variant:*", "constraint:deleted"})
	if diff := cmp.Diff([]string{"variant:*", "constraint:deleted"}, ofParts); diff != "" || err != nil {
		t.Errorf("parts: %v (-want +got):\n%s", err, diff)
	}
	for _, event := range []string{"", "flag", "flag:", ":created", "flags:created", "flag:create", "*"} {
		if _, _, err := ParseFilter([]string{event}); err == nil {
			t.Errorf("%q: no error", event)
		}
	}
}
