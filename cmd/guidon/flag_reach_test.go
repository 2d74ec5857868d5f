package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// analyzedShop has flags of which something is never reached.
const analyzedShop = `namespace: shop
segments:
- {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
- {key: guests, name: Guests, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: empty}]}
- {key: everyone, name: Everyone}
- {key: unused, name: Unused}
flags:
- {key: checkout, name: Checkout, enabled: true, variants: [{key: classic, default: true}, {key: one-page}, {key: old}], rules: [
    {segment: staff, distributions: [{variant: one-page, rollout: 100}, {variant: old, rollout: 20}]},
    {segment: everyone, distributions: [{variant: classic, rollout: 66.66}, {variant: one-page, rollout: 33.3}, {variant: old, rollout: 0.04}]},
    {segment: {keys: [staff, guests], operator: AND_SEGMENT_OPERATOR}, distributions: [{variant: one-page, rollout: 100}, {variant: old, rollout: 0}]}]}
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: true}}, {threshold: {percentage: 12.5, value: true}},
    {threshold: {percentage: 30, value: true}}, {threshold: {percentage: 20, value: true}}, {segment: {key: guests, value: true}}, {threshold: {percentage: 0, value: true}}]}
- {key: all, name: All, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 100, value: true}}]}
- {key: sleeping, name: Sleeping, variants: [{key: a}], rules: [{segment: guests}]}
`

func TestFlagReach(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", analyzedShop))
	for flag, want := range map[string]string{
		"checkout": `
shop/checkout is a variant flag
├─ ✓ rule 1
│  ├─ one-page: 100%
│  └─ old: 0%, configured as 20%: those before it have all buckets
├─ ✓ rule 2
│  ├─ classic: 66.6%, configured as 66.66%
│  ├─ one-page: 33.3%
│  ├─ old: 0%, configured as 0.04%: less than one bucket
│  └─ no variant: 0.1%, with the default variant or none
├─ ✗ rule 3 is never reached: nobody satisfies constraints 1 of segment staff, 1 of segment guests
│  ├─ one-page: 100%
│  └─ old: 0%
└─ ✗ default is never reached: rule 2 takes everybody who would get here
Variants that nobody can get: old
`,
		"banner": `
shop/banner is a boolean flag
├─ ✓ rule 1
├─ ✓ rule 2
│  └─ threshold: 13%, configured as 12.5%
├─ ✓ rule 3 decides for 17% at most: earlier thresholds have the others
│  └─ threshold: 30%
├─ ✗ rule 4 is never reached: rule 3 takes everybody who would get here
│  └─ threshold: 20%
├─ ✓ rule 5 decides for 70% at most: earlier thresholds have the others
├─ ✗ rule 6 is never reached: its share is 0%
│  └─ threshold: 0%
└─ ✓ the default value
`,
		"all": `
shop/all is a boolean flag
├─ ✓ rule 1
│  └─ threshold: 100%
└─ ✗ default is never reached: rule 1 takes everybody who would get here
`,
		"sleeping": `
shop/sleeping is a variant flag; it is disabled, so no rule is reached. Once it is enabled:
├─ ✓ rule 1
│  └─ no variant: 100%, with the default variant or none
└─ ✓ default (the default variant, or none)
Variants that nobody can get: a
`,
	} {
		if diff := cmp.Diff(want, "\n"+s.ok("flag", "reach", flag, "-n", "shop")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", flag, diff)
		}
	}
	var response struct{ UnservedVariants []string }
	if err := json.Unmarshal([]byte(s.ok("flag", "reach", "checkout", "-n", "shop", "--output=json")), &response); err != nil || len(response.UnservedVariants) != 1 {
		t.Errorf("got %v, %v", response, err)
	}
}

// TestFlagReachOfState: the namespace may be an earlier state.
func TestFlagReachOfState(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", analyzedShop))
	s.ok("import", s.file("shop.yaml", strings.Replace(analyzedShop, "percentage: 12.5", "percentage: 13", 1)), "--update")
	wantText(t, s.ok("flag", "reach", "banner", "-n", "shop@1"), "shop@1/banner is a boolean flag\n", "configured as 12.5%")
	if got := s.ok("flag", "reach", "banner", "-n", "shop@2"); strings.Contains(got, "configured") {
		t.Errorf("got %s", got)
	}
	s.fails(cli.ExitFailure, []string{"flag", "reach", "banner", "-n", "shop@9"}, `namespace "shop" has no revision 9 yet`)
	s.fails(cli.ExitFailure, []string{"flag", "reach", "gone", "-n", "shop"}, `flag "shop/gone" not found`)
	s.fails(cli.ExitUsage, []string{"flag", "reach"}, "missing argument <flag>")
	s.fails(cli.ExitUsage, []string{"flag", "reech"}, `unknown command "reech"`, "did you mean reach?")
	wantText(t, s.ok("flag"), "reach")
}
