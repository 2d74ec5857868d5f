package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// scheduledShop has a flag with a rule that has ended, one that begins in the year 2090, and one
// that ends when it does.
const scheduledShop = `version: guidon/1
namespace: shop
segments:
- {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
flags:
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [
    {segment: {key: staff, value: false}, until: "2020-01-01T00:00:00Z"},
    {threshold: {percentage: 100, value: true}, from: "2090-12-01T09:00:00Z", until: "2090-12-24T00:00:00Z"},
    {segment: {key: staff, value: true}, until: "2090-12-01T09:00:00Z"}]}
- {key: plain, name: Plain, type: BOOLEAN_FLAG_TYPE}
`

// TestFlagTimes covers what the commands say of rules in time, now and at another one.
func TestFlagTimes(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", scheduledShop))
	for args, want := range map[string]string{
		"flag timeline banner": `
1 December 2090 09:00 UTC: rule 2 begins: 100%: on
1 December 2090 09:00 UTC: rule 3 ends: segments staff: on
24 December 2090 00:00 UTC: rule 2 ends: 100%: on
`,
		"flag timeline banner -o name": `
2090-12-01T09:00:00Z
2090-12-24T00:00:00Z
`,
		"flag timeline banner -n shop@2090-12-01T09:00:00Z -o name": `
2090-12-24T00:00:00Z
`,
		"flag timeline plain": `
No rule begins, ends or changes its share from now on.
`,
		"flag reach banner": `
shop/banner is a boolean flag
├─ ✗ rule 1 is not in force: it held until 1 January 2020 00:00 UTC
├─ ✗ rule 2 is not in force: it holds from 1 December 2090 09:00 UTC until 24 December 2090 00:00 UTC
├─ ✓ rule 3
└─ ✓ the default value
`,
		"explain banner -n shop@2090-12-01T09:00:00Z -e ann -o table": `
shop/banner is on (rule 2) for ann on 1 December 2090 09:00 UTC
├─ ✗ rule 1 not in force: it held until 1 January 2020 00:00 UTC
│  └─ ✗ segment staff
│     └─ ✗ group eq staff: missing
├─ ✓ rule 2 matched: bucket 4 is below 100, so the flag is on
└─ · rule 3 not reached: rule 2 decided
It would be
└─ ✗ off: not for this entity, because rule 1 is not in force: it held until 1 January 2020 00:00 UTC; rule 2 always matches
`,
		"explain banner -n shop@2090-12-24T00:00:00Z -e ann -o name": `
false
`,
	} {
		if !strings.Contains(args, " -n ") {
			args += " -n shop"
		}
		if diff := cmp.Diff(want[1:], s.ok(strings.Fields(args)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	if first, _, _ := strings.Cut(s.ok("explain", "plain", "-n", "shop", "-e", "ann", "-o", "table"), "\n"); first != "shop/plain is off (the default value) for ann" {
		t.Errorf("without times: got %q", first)
	}
	s.fails(cli.ExitFailure, []string{"flag", "rule", "set", "banner", "2", "--until", "2090-12-01", "-n", "shop"}, "invalid field until: must be after from")
}

// TestFlagTimesAhead: a duration is from now on, in whole seconds.
func TestFlagTimesAhead(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	earliest := time.Now().Truncate(time.Second)
	s.ok("flag", "rollout", "new", "50%", "--from", "1d12h", "--until", "3d")
	latest := time.Now()
	got := strings.Fields(s.ok("flag", "timeline", "new", "-o", "name"))
	if len(got) != 2 {
		t.Fatalf("got the boundaries %v, want 2", got)
	}
	for i, ahead := range []time.Duration{36 * time.Hour, 72 * time.Hour} {
		if at, err := time.Parse(time.RFC3339, got[i]); err != nil || at.Before(earliest.Add(ahead)) || at.After(latest.Add(ahead)) {
			t.Errorf("got %s, want %v after now", got[i], ahead)
		}
	}
}

// TestFlagOffDespiteSchedule: a rule by which a flag is off for some time does not keep it from
// being turned off for good, and on again as it was.
func TestFlagOffDespiteSchedule(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	s.ok("flag", "rule", "add", "new", "100%", "--value", "off", "--until", "2090-01-01")
	s.ok("flag", "rule", "add", "new", "100%")
	before := s.rules("new")
	s.ok("flag", "off", "new")
	if got := s.ok("explain", "new", "-n", "default@2090-01-01T00:00:00Z", "-e", "ann", "-o", "name"); got != "false\n" {
		t.Errorf("after it was turned off and its schedule has ended: got %s", got)
	}
	s.ok("flag", "on", "new")
	if diff := cmp.Diff(before, s.rules("new")); diff != "" {
		t.Errorf("after it was turned on again (-want +got):\n%s", diff)
	}
}
