package cluster

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/integration/harness"
)

// TestCounts: ten instances count every evaluation once, whatever its route. One that is killed loses at most what it
// has counted since it last wrote; those that stop lose nothing.
func TestCounts(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	c := make(cluster, 10)
	var starting sync.WaitGroup
	for i := range c {
		starting.Go(func() { c[i] = harness.Start(t, database, "GUIDON_ANALYTICS_BUFFER_FLUSH_PERIOD=10s") })
	}
	starting.Wait()
	seedShutdown(t, c[0], nil)
	const rounds, each = 50, 5 // evaluations of a round
	load := func() {
		var calling sync.WaitGroup
		for _, s := range c {
			calling.Go(func() {
				for range rounds {
					evaluateEach(t, s)
				}
			})
		}
		calling.Wait()
	}
	total := func(s *harness.Server) int {
		var answer struct{ Evaluations struct{ Total float64 } }
		s.Must(t, "GET", "/api/v1/namespaces/default/evaluations?step=hour", nil, &answer)
		return int(answer.Evaluations.Total)
	}
	await := func(s *harness.Server, least int) int {
		t.Helper()
		for deadline := time.Now().Add(harness.Patience); ; time.Sleep(100 * time.Millisecond) {
			if got := total(s); got >= least || time.Now().After(deadline) {
				return got
			}
		}
	}

	load()
	all := len(c) * rounds * each
	if got := await(c[0], all); got != all {
		t.Errorf("got %d evaluations, want %d", got, all)
	}
	load()
	last := c[len(c)-1]
	c[0].Kill()
	for _, s := range c[1 : len(c)-1] {
		s.Signal(t, syscall.SIGTERM)
	}
	for _, s := range c[1 : len(c)-1] {
		if code := s.Wait(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, s.Log())
		}
	}
	if got, least := await(last, 2*all-rounds*each), 2*all-rounds*each; got < least || got > 2*all {
		t.Errorf("got %d evaluations, want at least %d, without those of the killed instance, and at most %d", got, least, 2*all)
	}
}

// evaluateEach evaluates the flag busy five times, by different routes.
func evaluateEach(t *testing.T, s *harness.Server) {
	one := map[string]any{"flagKey": "busy", "entityId": "e"}
	s.Must(t, "POST", "/evaluate/v1/boolean", one, nil)
	s.Must(t, "POST", "/evaluate/v1/batch", map[string]any{"requests": []any{one, one}}, nil)
	s.Must(t, "POST", "/ofrep/v1/evaluate/flags/busy", map[string]any{"context": map[string]any{"targetingKey": "e"}}, nil)
	conn := dialGRPC(t, cluster{s}, "pick_first")
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	request := &evaluation.EvaluationRequest{NamespaceKey: "default", FlagKey: "busy", EntityId: "e"}
	if err := conn.Invoke(ctx, "/flipt.evaluation.EvaluationService/Boolean", request, &evaluation.BooleanEvaluationResponse{}); err != nil {
		t.Error(err)
	}
	_ = conn.Close()
}
