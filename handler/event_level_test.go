package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// failingStore fails every read with err or, if err is nil, waits for the end of the
// request.
type failingStore struct {
	service.Store
	err error
}

func (s failingStore) Snapshot(ctx context.Context, _ string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if s.err != nil {
		return nil, 0, s.err
	}
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// staleStore returns stale state, as during an outage.
type staleStore struct{ states }

func (s *staleStore) Snapshot(ctx context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	snapshot, _, err := s.states.Snapshot(ctx, namespace, d)
	return snapshot, time.Minute, err
}

// TestLevelOfCallerErrors: a request that fails only because of its caller is not logged
// as an error. One that fails because of the service is, even with the same code.
func TestLevelOfCallerErrors(t *testing.T) {
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 7}, nil, nil)
	byKey := map[string]*guidon.Snapshot{"default": s}
	current, stale, waiting := &states{byKey: byKey}, &staleStore{states{byKey: byKey}}, failingStore{}
	down := failingStore{err: errDatabaseDown}
	late := failingStore{err: context.DeadlineExceeded}
	timeout := []string{"Grpc-Timeout", "0S"}
	future := []string{"Guidon-Min-Revision", "8"}
	const variant, bulk, flags = "/evaluate/v1/variant", ofrepPath, "/api/v1/namespaces/default/flags"
	for _, test := range []struct {
		name         string
		store        service.Store
		method, path string
		headers      []string
		status       int
		level        string
	}{
		{"no time for an evaluation", current, "POST", variant, timeout, 504, "INFO"},
		{"no time for OFREP", current, "POST", bulk, timeout, 504, "INFO"},
		{"no time for a list", current, "GET", flags, timeout, 504, "INFO"},
		{"too little time", waiting, "POST", variant, []string{"Grpc-Timeout", "1S"}, 504, "INFO"},
		{"our own time limit", waiting, "POST", variant, nil, 503, "ERROR"},
		{"our own time limit, which is earlier", waiting, "POST", variant, []string{"Grpc-Timeout", "1H"}, 503, "ERROR"},
		{"a backend's time limit", late, "POST", variant, nil, 504, "ERROR"},
		{"a backend's time limit, which is earlier", late, "POST", variant, []string{"Grpc-Timeout", "1H"}, 504, "ERROR"},
		{"an unreachable revision", current, "POST", variant, future, 503, "INFO"},
		{"an unreachable revision, OFREP", current, "POST", bulk, future, 503, "INFO"},
		{"an unreachable revision of a list", current, "GET", flags, future, 503, "INFO"},
		{"a revision that the database may have", stale, "POST", variant, future, 503, "ERROR"},
		{"no database", down, "POST", variant, nil, 503, "ERROR"},
		{"no database and a revision", down, "POST", variant, future, 503, "ERROR"},
		{"a malformed timeout", current, "POST", variant, []string{"Grpc-Timeout", "1"}, 400, "INFO"},
		{"a stale condition", current, "PUT", flags + "/f", []string{"If-Match", "x"}, 400, "INFO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				h := handler.New(handler.Config{
					Service: service.NewService(test.store, time.Now), Timeout: 30 * time.Second,
					Logger: slog.New(slog.NewJSONHandler(&log, nil)),
				})
				r := serve(h, test.method, test.path, `{"flagKey":"f"}`, test.headers...)
				if got := levelOf(t, log.Bytes()); r.Code != test.status || got != test.level {
					t.Errorf("got status %d logged as %s, want %d as %s: %s", r.Code, got, test.status, test.level, log.String())
				}
			})
		})
	}
}

// TestLevelOfCallers: if the caller's own context ends a call of another transport, that
// is not logged as an error.
func TestLevelOfCallers(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit func(context.Context) (context.Context, context.CancelFunc)
		code  guidon.Code
		level string
	}{
		{"a deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, guidon.DeadlineExceeded, "INFO"},
		{"a cancellation", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, guidon.Canceled, "INFO"},
		{"a later deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		}, guidon.Unavailable, "ERROR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				h := handler.New(handler.Config{
					Service: service.NewService(failingStore{}, time.Now), Timeout: 30 * time.Second,
					Logger: slog.New(slog.NewJSONHandler(&log, nil)),
				})
				ctx, cancel := test.limit(t.Context())
				defer cancel()
				_, err := h.Invoke(ctx, operation(t, "Variant"), call.Request{
					Transport: "grpc", Message: &evaluation.EvaluationRequest{FlagKey: "f"},
				})
				if got := levelOf(t, log.Bytes()); guidon.CodeOf(err) != test.code || got != test.level {
					t.Errorf("got %v logged as %s, want %v as %s", err, got, test.code, test.level)
				}
			})
		})
	}
}

// levelOf returns the level of the one line of the log.
func levelOf(t *testing.T, line []byte) string {
	t.Helper()
	var e struct{ Level string }
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return e.Level
}
