package service_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagrand"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// TestRandomPlans applies random plans between two namespaces of random content, and checks
// the outcome for every object by what was there before.
func TestRandomPlans(t *testing.T) {
	s := service.NewService(cache.New(newStore(t)), time.Now)
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for seed := range uint64(rounds) {
		source, target := fmt.Sprint("source-", seed), fmt.Sprint("target-", seed)
		random := rand.New(rand.NewPCG(seed, 9))
		fillRandomly(t, s, seed, source, target, random)
		r := randomRequest(random, s, t, source, target)
		source, target = r.Source, r.Namespace
		before := change.ObjectsOf(view(t, s, target).Snapshot)
		p, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil)
		if err != nil { // such as a kept rule for a variant that the source lacks
			if guidon.CodeOf(err) != guidon.InvalidArgument {
				t.Fatal(err)
			}
			continue
		}
		if _, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, expectedOf(p), nil); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		checkOutcome(t, r, change.ObjectsOf(view(t, s, source).Snapshot), before, change.ObjectsOf(view(t, s, target).Snapshot), p)
		if again := mustPlan(t, s, r); len(again.Changes) > 0 {
			t.Errorf("%+v: planned again: %q", r, lines(again))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// fillRandomly creates both namespaces, which have some equal and some edited objects.
func fillRandomly(t *testing.T, s *service.Service, seed uint64, source, target string, random *rand.Rand) {
	t.Helper()
	objects := flagrand.New(seed)
	flags, segments := objects.State(12)
	for _, namespace := range []string{source, target} {
		d := service.DocumentOf(namespace, change.Objects{Flags: flags, Segments: segments})
		if _, _, err := s.Import(t.Context(), service.Write{}, namespace, d, service.ImportCreate, false); err != nil {
			t.Fatal(err)
		}
		var kept []*guidon.Flag
		for _, f := range flags {
			switch random.IntN(4) {
			case 0:
				kept = append(kept, objects.EditFlag(f))
			case 1, 2:
				kept = append(kept, f)
			}
		}
		flags = kept
		for i, g := range segments {
			if random.IntN(3) == 0 {
				segments[i] = objects.EditSegment(g)
			}
		}
	}
}

func randomRequest(random *rand.Rand, s *service.Service, t *testing.T, source, target string) service.PlanRequest {
	t.Helper()
	if random.IntN(2) == 0 { // either may lack objects of the other
		source, target = target, source
	}
	r := service.PlanRequest{Namespace: target, Source: source, Mode: service.ImportUpdate}
	r.Keep = service.Keep{Enabled: random.IntN(2) == 0, Percentages: random.IntN(3) == 0, Rules: random.IntN(5) == 0}
	switch random.IntN(4) {
	case 0:
		r.Mode = service.ImportReplace
		return r
	case 1:
		return r
	case 2:
		r.Mode = service.ImportSkipExisting
	}
	for _, f := range view(t, s, source).Snapshot.Flags() {
		if random.IntN(3) == 0 {
			r.Flags = append(r.Flags, f.Key)
		}
	}
	return r
}

// checkOutcome checks each flag and segment of the target.
func checkOutcome(t *testing.T, r service.PlanRequest, source, before, after change.Objects, p *service.Plan) {
	t.Helper()
	if r.Source == "" || len(after.Flags)+len(after.Segments) == 0 && r.Mode != service.ImportReplace {
		t.Fatal("there is nothing to check")
	}
	from, was, is := flagsOf(source), flagsOf(before), flagsOf(after)
	selected := map[string]bool{}
	for key := range from {
		selected[key] = len(r.Flags)+len(r.Segments) == 0
	}
	for _, key := range r.Flags {
		selected[key] = true
	}
	for key, f := range is {
		old := was[key]
		switch {
		case !selected[key] || r.Mode == service.ImportSkipExisting && old != nil:
			if diff := cmp.Diff(old, f); diff != "" {
				t.Errorf("flag %q was not selected (-before +after):\n%s", key, diff)
			}
		case old == nil || r.Keep == (service.Keep{}):
			if d := change.CompareFlags(from[key], f); len(d) > 0 {
				t.Errorf("flag %q differs from the source: %s", key, change.Summarize(d))
			}
		case r.Keep.Enabled && f.Enabled != old.Enabled:
			t.Errorf("flag %q does not keep its switch", key)
		case r.Keep.Rules && old.Type == f.Type && len(f.Rules)+len(f.Rollouts) != len(old.Rules)+len(old.Rollouts):
			t.Errorf("flag %q does not keep its rules", key)
		}
	}
	for key := range was {
		if gone, want := is[key] == nil, r.Mode == service.ImportReplace && !selected[key]; gone != want {
			t.Errorf("flag %q is deleted: %t, want %t", key, gone, want)
		}
	}
	for key := range selected {
		if selected[key] && is[key] == nil {
			t.Errorf("flag %q was not created", key)
		}
	}
	checkStated(t, before, after, p)
}

// checkStated checks that what differs is what the plan stated, object by object.
func checkStated(t *testing.T, before, after change.Objects, p *service.Plan) {
	t.Helper()
	want := map[string]change.Action{}
	c := change.Compare(before, after)
	for _, f := range c.Flags {
		want["flag "+f.Key] = f.Action()
	}
	for _, g := range c.Segments {
		want["segment "+g.Key] = g.Action()
	}
	got := map[string]change.Action{}
	for _, c := range p.Changes {
		if c.Action == change.ActionUpdate && len(c.Differences) == 0 {
			continue // only the spelling differs
		}
		got[fmt.Sprintf("%s %s", c.Kind, c.Key)] = c.Action
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-made +stated):\n%s", diff)
	}
}

func flagsOf(o change.Objects) map[string]*guidon.Flag {
	all := map[string]*guidon.Flag{}
	for _, f := range o.Flags {
		all[f.Key] = f
	}
	return all
}
