package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// effectShop is edited to effectEdited, which changes shares of a flag, and a segment that
// another flag uses.
const effectShop = `namespace: shop
segments:
- {key: everyone, name: Everyone}
- {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
flags:
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: true}}]}
- {key: checkout, name: Checkout, enabled: true, variants: [{key: classic}, {key: one-page}], rules: [
    {segment: everyone, distributions: [{variant: classic, rollout: 60}, {variant: one-page, rollout: 40}]}]}
`

var effectEdited = strings.NewReplacer("value: staff}]}", "value: staff}, {type: STRING_COMPARISON_TYPE, property: vpn, operator: eq, value: yes}]}",
	"rollout: 60", "rollout: 40", "rollout: 40}]}]}", "rollout: 60}]}]}").Replace(effectShop) + "- {key: new, name: New}\n"

const (
	planWithEffects = `shop: 1 to create, 2 to update, 0 to delete, 2 unchanged
  update segment staff
    constraint 2 added (vpn is yes)
  update flag checkout
    rule 1: share of "classic" 60% → 40%
    rule 1: share of "one-page" 40% → 60%
    effect: 20% of all entities go from classic to one-page
  create flag new
  flag banner (uses a changed segment)
    effect: all those who no longer match rule 1 go from on to off
  warning: segment "staff" changes, and other flags use it: banner
`
	moved = "    effect: 20% of all entities go from one-page to classic\n"
)

// TestEffect prints effects with every command that makes a plan.
func TestEffect(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", effectShop))
	edited := s.file("shop.yaml", effectEdited)
	if diff := cmp.Diff(planWithEffects, s.changes("plan", edited, "--effect")); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if got := s.changes("plan", edited); strings.Contains(got, "effect") || strings.Contains(got, "uses a changed segment") {
		t.Errorf("without --effect:\n%s", got)
	}
	if diff := cmp.Diff(planWithEffects+"shop: 3 changes applied; revision 2\n", s.ok("apply", edited, "--effect", "--yes")); diff != "" {
		t.Errorf("apply (-want +got):\n%s", diff)
	}
	wantText(t, s.changes("restore", "shop@1", "--flag", "checkout", "--effect", "--dry-run"), moved)
	wantText(t, s.changes("undo", "2", "-n", "shop", "--effect", "--dry-run"), moved, "  flag banner (uses a changed segment)\n    effect: all those who")
	s.ok("import", s.file("live.yaml", strings.Replace(effectShop, "namespace: shop", "namespace: live", 1)))
	wantText(t, s.changes("promote", "live", "shop", "--flag", "checkout", "--with-segments=false", "--effect", "--dry-run"), moved)

	s.ok("import", s.file("needs.yaml", explainedNeeds))
	wantText(t, s.changes("plan", s.file("on.yaml", strings.Replace(explainedNeeds, "{key: api, name: API,", "{key: api, name: API, enabled: true,", 1)), "--effect"),
		"    effect: everyone gets On\n    effect: flag layout, which depends on it: everyone gets wide\n")

	for _, other := range [][]string{{"--plan", "plan.json"}, {"--output=json"}} {
		s.fails(cli.ExitUsage, append([]string{"apply", edited, "--effect"}, other...), "--effect cannot be combined with --plan or --output")
	}
	s.fails(cli.ExitUsage, []string{"promote", "live", "shop", "--effect=maybe"}, "invalid argument")
}

// TestEffectJSON: the JSON of a plan contains its effects, also after it has been applied.
func TestEffectJSON(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", effectShop))
	edited := s.file("shop.yaml", effectEdited)
	s.ok("apply", edited, "--yes")
	flags := func(out string) string {
		var plans []struct {
			Revision int
			Effects  []struct{ FlagKey string }
		}
		if err := json.Unmarshal([]byte(out), &plans); err != nil || len(plans) != 1 {
			t.Fatalf("got %s: %v", out, err)
		}
		return fmt.Sprint(plans[0].Revision, plans[0].Effects)
	}
	undo := []string{"undo", "2", "-n", "shop", "--output=json"}
	for _, tt := range []struct{ got, want string }{
		{s.changes("plan", s.file("old.yaml", effectShop), "--effect", "--output=json"), "2 [{banner} {checkout}]"},
		{s.changes(append(undo, "--dry-run")...), "2 []"},
		{s.changes(append(undo, "--dry-run", "--effect")...), "2 [{banner} {checkout}]"},
		{s.ok(append(undo, "--yes", "--effect")...), "3 [{banner} {checkout}]"},
	} {
		if got := flags(tt.got); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestEffectOfTypes prints that a restored flag gets its earlier type again.
func TestEffectOfTypes(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("a.yaml", "namespace: shop\nflags: [{key: a, name: A}]"))
	s.ok("import", s.file("a.yaml", "namespace: shop\nflags: [{key: a, name: A, type: BOOLEAN_FLAG_TYPE}]"), "--update")
	wantText(t, s.changes("restore", "shop@1", "--effect", "--dry-run"), "    effect: it becomes a variant flag; evaluations as a boolean flag fail\n")
	wantText(t, s.changes("plan", s.file("b.yaml", "namespace: shop\nflags: [{key: a, name: A}]"), "--effect"), "    effect: it becomes a variant flag")
}
