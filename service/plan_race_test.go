package service_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// TestApplyAmongWriters: while others change the source and the target, an apply does
// exactly what its plan stated, or nothing.
func TestApplyAmongWriters(t *testing.T) {
	s := environments(t)
	const rounds = 60
	var writers sync.WaitGroup
	done := make(chan struct{})
	for i, namespace := range []string{"staging", "production"} {
		writers.Go(func() { writeUntil(t, s, done, uint64(i), namespace) })
	}
	defer writers.Wait()
	defer close(done)
	applied, refused := 0, 0
	random := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		r := service.PlanRequest{Namespace: "production", Source: "staging", Mode: service.ImportUpdate}
		switch random.IntN(4) {
		case 0:
			r.Flags = []string{"checkout"}
		case 1:
			r.Flags, r.Keep = []string{"checkout", "banner"}, service.Keep{Enabled: true, Percentages: true}
		case 2:
			r.Segments = []string{"beta"}
		default:
			r.Mode = service.ImportReplace
		}
		p := mustPlan(t, s, r)
		_, revision, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, expectedOf(p), nil)
		switch {
		case errors.Is(err, guidon.FailedPrecondition):
			refused++
		case err != nil:
			t.Fatal(err)
		case len(p.Changes) > 0:
			applied++
			checkApplied(t, s, p, revision)
		}
	}
	t.Logf("%d applied, %d refused", applied, refused)
	if applied == 0 || refused == 0 {
		t.Errorf("%d applied and %d refused: the test proves nothing", applied, refused)
	}
}

// writeUntil changes flags and segments of the namespace until done is closed.
func writeUntil(t *testing.T, s *service.Service, done <-chan struct{}, seed uint64, namespace string) {
	random := rand.New(rand.NewPCG(seed, 1))
	for {
		select {
		case <-done:
			return
		default:
		}
		text := []string{
			fmt.Sprintf("flags: [{key: unrelated-%d, name: U%d}]", random.IntN(3), random.IntN(99)),
			fmt.Sprintf("flags: [{key: banner, name: Banner %d, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: %d, value: true}}]}]", random.IntN(3), random.IntN(100)),
			fmt.Sprintf("segments: [{key: beta, name: Beta %d}]", random.IntN(3)),
			fmt.Sprintf("flags: [{key: checkout, name: Checkout, enabled: %t, variants: [{key: v%d}]}]", random.IntN(2) == 0, random.IntN(3)),
		}[random.IntN(4)]
		d := parse(t, "namespace: "+namespace+"\n"+text)
		if _, _, err := s.Import(t.Context(), service.Write{}, namespace, d, service.ImportUpdate, false); err != nil {
			t.Error(err)
			return
		}
	}
}

// checkApplied checks that the records of the revision are the changes of the plan.
func checkApplied(t *testing.T, s *service.Service, p *service.Plan, revision int64) {
	t.Helper()
	var records []*change.Record
	for token := ""; ; {
		page, next, _, err := s.ListChanges(t.Context(), service.Demand{}, p.Namespace, service.ChangeFilter{PageToken: token, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if r.Revision == revision {
				records = append(records, r)
			}
		}
		if token = next; token == "" || len(page) == 0 || page[len(page)-1].Revision < revision {
			break
		}
	}
	if len(records) != len(p.Changes) {
		t.Fatalf("revision %d has %d records, but the plan stated %d changes", revision, len(records), len(p.Changes))
	}
	for i, c := range p.Changes {
		r := records[len(records)-1-i] // newest first
		if r.Kind != c.Kind || r.Key != c.Key || r.Action != c.Action {
			t.Fatalf("revision %d: got %s %s %s, but the plan stated %s %s %s", revision, r.Action, r.Kind, r.Key, c.Action, c.Kind, c.Key)
		}
		differences, err := r.Differences()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(differences), len(c.Differences); got != want {
			t.Fatalf("%s %s: %d differences, but the plan stated %d", c.Kind, c.Key, got, want)
		}
		for i, d := range differences {
			if want := c.Differences[i]; d.Path != want.Path || d.Op != want.Op || !bytes.Equal(d.Before, want.Before) || !bytes.Equal(d.After, want.After) {
				t.Fatalf("%s %s: %+v, but the plan stated %+v", c.Kind, c.Key, d, want)
			}
		}
	}
}
