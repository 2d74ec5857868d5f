package service_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// effectsOf returns the effects of a plan, which must be complete, and their flags in order.
func effectsOf(t *testing.T, p *service.Plan) (keys []string, effects map[string]*analysis.Effect) {
	t.Helper()
	effects = map[string]*analysis.Effect{}
	complete, err := p.EachEffect(t.Context(), func(key string, e *analysis.Effect) bool {
		keys, effects[key] = append(keys, key), e
		return true
	})
	if !complete || err != nil {
		t.Fatalf("complete %t, %v", complete, err)
	}
	return keys, effects
}

// effectLines returns one line for each move of the plan's effects.
func effectLines(t *testing.T, p *service.Plan) (lines []string) {
	t.Helper()
	keys, effects := effectsOf(t, p)
	for _, key := range keys {
		e := effects[key]
		if e.TypeChanged {
			lines = append(lines, key+": another type")
		}
		for i := range e.Groups {
			for j := range e.Groups[i].Moves {
				lines = append(lines, key+": "+e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
			}
		}
	}
	return lines
}

const effectShop = `namespace: shop
segments:
- {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
- {key: everyone, name: Everyone}
flags:
- {key: uses, name: Uses, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: true}}]}
- {key: checkout, name: Checkout, enabled: true, variants: [{key: classic}, {key: one-page}], rules: [
    {segment: staff, distributions: [{variant: one-page, rollout: 100}]},
    {segment: everyone, distributions: [{variant: classic, rollout: 60}, {variant: one-page, rollout: 40}]}]}
- {key: other, name: Other, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: everyone, value: true}}]}
- {key: gone, name: Gone, rules: [{segment: staff}]}
- {key: renamed, name: Name}
`

// effectEdited changes a segment, the flag that uses it, and others.
var effectEdited = strings.NewReplacer("value: staff}]}", "value: crew}]}", "rollout: 60", "rollout: 40", "variant: one-page, rollout: 40", "variant: one-page, rollout: 60",
	"- {key: gone, name: Gone, rules: [{segment: staff}]}\n", "", "name: Name", "name: Another name").Replace(effectShop) +
	"- {key: new, name: New, enabled: true, rules: [{segment: staff}]}\n"

// TestPlanEffects covers which flags have an effect, and that it is that of all changes of
// the plan together.
func TestPlanEffects(t *testing.T) {
	s := newService(t)
	mustImport(t, s, effectShop, service.ImportCreate)
	r := service.PlanRequest{Namespace: "shop", Document: parse(t, effectEdited), Mode: service.ImportReplace}
	want := []string{
		"uses: all those who no longer match rule 1 go from on to off",
		"uses: all those who newly match rule 1 go from off to on",
		"checkout: 40% of those who match rule 2 instead of rule 1 go from one-page to classic",
		"checkout: 60% of those who match rule 1 instead of rule 2 go from classic to one-page",
		"checkout: 20% of those who match rule 2 go from classic to one-page",
	}
	if diff := cmp.Diff(want, effectLines(t, mustPlan(t, s, r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	applied := mustApply(t, s, r)
	if got := effectLines(t, applied); len(got) > 0 {
		t.Errorf("of an applied plan: %q", got)
	}
	back := service.PlanRequest{Namespace: "shop", Source: "shop@1", Segments: []string{"staff"}, Mode: service.ImportUpdate}
	got, _ := effectsOf(t, mustPlan(t, s, back))
	if diff := cmp.Diff([]string{"uses", "checkout", "new"}, got); diff != "" {
		t.Errorf("of a segment alone (-want +got):\n%s", diff)
	}
}

// TestPlanEffectsOfTypes: a restored flag may have had another type.
func TestPlanEffectsOfTypes(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nflags: [{key: a, name: A}]", service.ImportCreate)
	mustImport(t, s, "namespace: shop\nflags: [{key: a, name: A, type: BOOLEAN_FLAG_TYPE}]", service.ImportUpdate)
	r := service.PlanRequest{Namespace: "shop", Source: "shop@1", Mode: service.ImportReplace}
	if diff := cmp.Diff([]string{"a: another type"}, effectLines(t, mustPlan(t, s, r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	created := service.PlanRequest{Namespace: "new", Document: parse(t, effectShop), Mode: service.ImportUpdate}
	created.Document.Namespace.Key = "new"
	if got := effectLines(t, mustPlan(t, s, created)); len(got) > 0 {
		t.Errorf("of a namespace that does not exist: %q", got)
	}
}

// TestRandomPlanEffects compares the effects of random promotions, and of undoing and
// restoring them, with those of the states before and after.
func TestRandomPlanEffects(t *testing.T) {
	s := service.NewService(cache.New(newStore(t)), time.Now)
	effects := 0
	for seed := range uint64(40) {
		source, target := fmt.Sprint("source-", seed), fmt.Sprint("target-", seed)
		random := rand.New(rand.NewPCG(seed, 11))
		fillRandomly(t, s, seed, source, target, random)
		r := randomRequest(random, s, t, source, target)
		if _, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil); err != nil {
			continue // a kept rule for a variant that the source lacks
		}
		revision := revision(t, s, r.Namespace)
		effects += checkEffects(t, s, r)
		if view(t, s, r.Namespace).Revision == revision {
			continue // nothing changed
		}
		effects += checkEffects(t, s, service.PlanRequest{Namespace: r.Namespace, Undo: &service.Undo{First: revision + 1, Last: revision + 1}, Mode: service.ImportUpdate})
		effects += checkEffects(t, s, service.PlanRequest{Namespace: r.Namespace, Source: fmt.Sprintf("%s@%d", r.Namespace, revision+1), Mode: service.ImportReplace})
	}
	if effects < 100 {
		t.Errorf("only %d effects were compared", effects)
	}
}

// fillRandomly creates both namespaces, which have some equal and some edited objects.
func fillRandomly(t *testing.T, s *service.Service, seed uint64, source, target string, random *rand.Rand) {
	t.Helper()
	objects := flagtest.NewSource(seed)
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

// checkEffects applies the plan of the request and returns how many effects it has had.
func checkEffects(t *testing.T, s *service.Service, r service.PlanRequest) int {
	t.Helper()
	_, got := effectsOf(t, mustPlan(t, s, r))
	before := view(t, s, r.Namespace).Snapshot
	mustApply(t, s, r)
	after := view(t, s, r.Namespace).Snapshot
	want := map[string]*analysis.Effect{}
	for _, f := range before.Flags() {
		if after.Flag(f.Key) == nil {
			continue
		}
		if e, err := analysis.EffectOf(t.Context(), before, after, f.Key); err != nil || e.TypeChanged || len(e.Groups) > 0 {
			want[f.Key] = e
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v (-want +got):\n%s", r, diff)
	}
	return len(got)
}

// TestPlanEffectLimits: the caller can end it, and so do the context and too much work.
func TestPlanEffectLimits(t *testing.T) {
	s := newService(t)
	var flags strings.Builder
	for i := range 25 {
		fmt.Fprintf(&flags, "- {key: f%d, name: F, enabled: true, rules: [%s]}\n", i, strings.TrimSuffix(strings.Repeat("{segment: all},", 100), ","))
	}
	many := "namespace: shop\nsegments: [{key: all, name: All}]\nflags:\n" + flags.String()
	mustImport(t, s, many, service.ImportCreate)
	p := mustPlan(t, s, service.PlanRequest{Namespace: "shop", Document: parse(t, strings.ReplaceAll(many, "enabled: true, ", "")), Mode: service.ImportUpdate})
	for _, tt := range []struct{ until, want int }{{1, 1}, {25, 20}} {
		n := 0
		complete, err := p.EachEffect(t.Context(), func(string, *analysis.Effect) bool { n++; return n < tt.until })
		if n != tt.want || complete || err != nil {
			t.Errorf("until %d: got %d effects, complete %t, %v", tt.until, n, complete, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.EachEffect(ctx, func(string, *analysis.Effect) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
