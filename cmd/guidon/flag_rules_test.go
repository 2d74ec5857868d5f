package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// rules returns the rules of the flag as "flag get" prints them.
func (s *shell) rules(key string) (rules []string) {
	s.t.Helper()
	for line := range strings.Lines(s.ok("flag", "get", key)) {
		if rule, ok := strings.CutPrefix(line, "RULE"); ok {
			_, text, _ := strings.Cut(strings.TrimSpace(rule), " ")
			rules = append(rules, strings.TrimSpace(text))
		}
	}
	return rules
}

// TestFlagRules checks what the commands make of the rules of flags, one after the other.
func TestFlagRules(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	for _, key := range []string{"staff", "beta", "bots"} {
		s.ok("segment", "create", key, "--constraint", key+" eq yes")
	}
	s.ok("flag", "create", "new")
	s.ok("flag", "create", "price", "--enabled", "--variant", "low", "--variant", "high")
	for _, step := range []struct {
		args  string
		rules []string // of the flag afterwards
	}{
		{"rollout new 10%", []string{"10%: on"}},
		{"rollout new 50", []string{"50%: on"}},
		{"rollout new --segment staff", []string{"staff: on", "50%: on"}},
		{"rollout new 12.5% --value on", []string{"staff: on", "12.5%: on"}},
		{"rollout new --segment staff --value off", []string{"staff: off", "12.5%: on"}},
		{"rollout new --segment staff --segment beta --all", []string{"staff: off", "all of staff, beta: on", "12.5%: on"}},
		{"rollout new --segment beta --segment staff --all --value off", []string{"staff: off", "all of staff, beta: off", "12.5%: on"}},
		{"rule remove new 2", []string{"staff: off", "12.5%: on"}},
		{"rule add new --segment bots --value off --at 1 --description robots", []string{"bots: off (robots)", "staff: off", "12.5%: on"}},
		{"rule move new 3 1", []string{"12.5%: on", "bots: off (robots)", "staff: off"}},
		{"rule move new 1 2", []string{"bots: off (robots)", "12.5%: on", "staff: off"}},
		{"rule set new 1 --segment beta", []string{"beta: off (robots)", "12.5%: on", "staff: off"}},
		{"rule set new 3 --value on", []string{"beta: off (robots)", "12.5%: on", "staff: on"}},
		{"rule set new 3 5%", []string{"beta: off (robots)", "12.5%: on", "5%: on"}},
		{"off new", []string{"100%: off (Off for everyone)", "beta: off (robots)", "12.5%: on", "5%: on"}},
		{"rule remove new 4", []string{"100%: off (Off for everyone)", "beta: off (robots)", "12.5%: on"}},
		{"rollout new 60% -m more", []string{"100%: off (Off for everyone)", "beta: off (robots)", "60%: on"}},
		{"rollout new 70% --dry-run", []string{"100%: off (Off for everyone)", "beta: off (robots)", "60%: on"}},
		{"on new", []string{"beta: off (robots)", "60%: on"}},
		{"rollout price low=50% high=50% --segment beta", []string{"beta: 50% low, 50% high"}},
		{"rollout price low=20% high=80% --segment beta", []string{"beta: 20% low, 80% high"}},
		{"rule add price high=100% --segment staff --at 1", []string{"staff: 100% high", "beta: 20% low, 80% high"}},
		{"rule set price 1 --segment staff --segment bots", []string{"any of staff, bots: 100% high", "beta: 20% low, 80% high"}},
		{"rule move price 2 1", []string{"beta: 20% low, 80% high", "any of staff, bots: 100% high"}},
		{"rule remove price 1", []string{"any of staff, bots: 100% high"}},
	} {
		args := strings.Fields(step.args)
		s.ok(append([]string{"flag"}, args...)...)
		key := args[1]
		if args[0] == "rule" {
			key = args[2]
		}
		if diff := cmp.Diff(step.rules, s.rules(key)); diff != "" {
			t.Fatalf("after %q (-want +got):\n%s", step.args, diff)
		}
	}
	if got := s.ok("log", "new"); !strings.Contains(got, "more") {
		t.Errorf("the message is not in the log: %s", got)
	}
}

// TestFlagRuleOutput checks what the commands print.
func TestFlagRuleOutput(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	for _, step := range []struct{ args, want string }{
		{"flag rollout new 10% --dry-run", "rule 1 added (10%: on)\n    effect: 10% of all entities go from off to on\n"},
		{"flag rollout new 20%", "updated flag new in default\n    rule 1: 20%: on\n"},
		{"flag rollout new 30% -o name", "new\n"},
	} {
		if got := s.ok(strings.Fields(step.args)...); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.args, got, step.want)
		}
	}
}

// TestFlagRuleUsage checks what is refused, and that it changes nothing.
func TestFlagRuleUsage(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("segment", "create", "staff")
	s.ok("flag", "create", "on", "--enabled")
	s.ok("flag", "create", "none")
	s.ok("flag", "create", "two")
	s.ok("flag", "rule", "add", "two", "10%")
	s.ok("flag", "rule", "add", "two", "20%", "--value", "off")
	s.ok("flag", "create", "price", "--variant", "low")
	before := s.ok("flag", "list", "-o", "json")
	for args, want := range map[string]string{
		"rollout":                                          "missing argument",
		"rollout none":                                     "missing percentage, such as 50%, or --segment",
		"rollout none 101%":                                `invalid percentage "101%": must be from 0% to 100%`,
		"rollout none NaN":                                 `invalid percentage "NaN"`,
		"rollout none -- -1%":                              `invalid percentage "-1%"`,
		"rollout none 10% 20%":                             "a boolean flag has one percentage",
		"rollout none 10% --segment staff":                 "not for a share of a segment; docs/targeting.md",
		"rollout none 10% --value yes":                     `invalid --value "yes": must be on or off`,
		"rollout none --segment staff --all":               "--all is for two or more segments",
		"rollout on 10%":                                   "so a share for whom it is on changes nothing; give --value off, or change",
		"rollout two 10%":                                  "several shares, in rules 1 and 2;",
		"rollout price 10% --segment staff":                "such as blue=50%",
		"rollout price low=50%":                            "missing --segment",
		"rollout price --segment staff":                    "missing shares",
		"rollout price low=50% --segment staff --value on": "rules of variant flags have no --value",
		"rule add none":                                    "missing percentage or --segment",
		"rule add none 10% --at 2":                         "invalid --at 2: must be from 1 to 1",
		"rule add none 10% --at 0":                         "invalid --at 0",
		"rule set none 1 10%":                              `flag "none" has no rules`,
		"rule set two":                                     "missing argument",
		"rule set two 1":                                   "nothing to change",
		"rule set two 0 10%":                               `invalid rule "0": must be a number from 1 to 2`,
		"rule move two 1":                                  "missing argument",
		"rule move two 1 2 3":                              `unexpected argument "3"`,
		"rule move two 1 3":                                `invalid rule "3"`,
		"rule remove two one":                              `invalid rule "one"`,
	} {
		fields := strings.Fields(args)
		s.fails(cli.ExitUsage, append([]string{"flag"}, fields...), want)
	}
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "nope", "10%"}, "not found")
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "price", "blue=10%", "--segment", "staff"}, "blue")
	if got := s.ok("flag", "list", "-o", "json"); got != before {
		t.Errorf("flags were changed: got %s, want %s", got, before)
	}
}
