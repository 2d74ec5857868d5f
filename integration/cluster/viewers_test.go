package cluster

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

const (
	viewers       = 60
	viewersMemory = 400 << 20 // limit of the server's resident memory
)

// TestViewers: what viewers can do takes no more memory than the Helm chart gives, whatever
// is stored, and other clients get their evaluations.
func TestViewers(t *testing.T) {
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), floodLimit)
	const ns = "/api/v1/namespaces/default"
	s.Must(t, "POST", ns+"/flags", map[string]any{"key": "f", "name": "F", "type": "BOOLEAN_FLAG_TYPE"}, nil)
	s.Must(t, "PUT", ns+"/segments/s/content", map[string]any{"segment": map[string]any{"name": "S"}}, nil)
	// The JSON of many small objects takes many times as much memory as that of a few large ones.
	rules := make([]any, 3000)
	for i := range rules {
		rules[i] = map[string]any{"segmentKeys": []string{"s"}, "distributions": []any{map[string]any{"variant": "a", "rollout": 50}}}
	}
	flag := map[string]any{
		"name": "Large", "type": "VARIANT_FLAG_TYPE", "enabled": true, "rules": rules,
		"variants": []any{map[string]any{"key": "a", "description": strings.Repeat("x", 2<<20)}},
	}
	s.Must(t, "PUT", ns+"/flags/large/content", map[string]any{"flag": flag}, nil)
	for i := range 4 {
		s.Must(t, "PUT", ns+"/flags/large", map[string]any{"name": "Large", "enabled": i%2 == 1}, nil)
	}
	var list struct{ Changes []struct{ Revision int64 } }
	s.Must(t, "GET", ns+"/changes?max_object_bytes=1&limit=1", nil, &list)
	revision := list.Changes[0].Revision
	requests := []struct {
		method, path string
		body         any
	}{
		{"GET", "/namespaces/default/changes", nil},
		{"GET", fmt.Sprintf("/namespaces/default/changes/%d", revision), nil},
		{"GET", fmt.Sprintf("/namespaces/default/changes/%d/undo", revision), nil},
		{"GET", "/namespaces/default/flags/large/history", nil},
		{"GET", "/namespaces/default/segments/s/used-by", nil},
		{"GET", ns + "/changes", nil},
		{"GET", ns + "/segments/s/usage", nil},
		{"GET", ns + "/flags/large/reach", nil},
		{"GET", ns + "/compare?with=default@4", nil},
		{"POST", ns + "/plan", map[string]any{"undo": map[string]any{"firstRevision": revision}}},
		{"POST", ns + "/segments/s/effect", map[string]any{"segment": map[string]any{"name": "S", "matchType": "ANY_MATCH_TYPE"}}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), floodTime(t))
	defer cancel()
	var served, refused, most atomic.Int64
	var visiting sync.WaitGroup
	for i := range viewers {
		visiting.Go(func() {
			for i := i; ctx.Err() == nil; i++ {
				r := requests[i%len(requests)]
				answer, err := s.Call(ctx, r.method, r.path, r.body)
				switch {
				case ctx.Err() != nil:
				case err != nil:
					t.Errorf("%s %s: %v", r.method, r.path, err)
					cancel()
				case answer.Status == http.StatusOK:
					served.Add(1)
				case answer.Status == http.StatusServiceUnavailable:
					refused.Add(1)
				default:
					t.Errorf("%s %s: status %d: %.300s", r.method, r.path, answer.Status, answer.Body)
				}
			}
		})
	}
	visiting.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			most.Store(max(most.Load(), resident(t, s)))
		}
	})
	var took []time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		answer, err := s.Call(context.WithoutCancel(ctx), "POST", "/evaluate/v1/boolean", map[string]any{"flagKey": "f", "entityId": "e"})
		took = append(took, time.Since(began))
		if err != nil || answer.Status != http.StatusOK {
			t.Fatalf("an evaluation: %d %s %v", answer.Status, answer.Body, err)
		}
	}
	visiting.Wait()
	slices.Sort(took)
	t.Logf("%d MiB resident at most; %d requests were served and %d refused; %d evaluations, half within %v, 99 %% within %v",
		most.Load()>>20, served.Load(), refused.Load(), len(took), took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
	if most.Load() > viewersMemory {
		t.Errorf("%d MiB are resident, want at most %d", most.Load()>>20, viewersMemory>>20)
	}
	if served.Load() == 0 {
		t.Error("no viewer was served")
	}
}
