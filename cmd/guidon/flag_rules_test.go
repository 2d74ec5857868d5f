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

// words returns the words of a command line, in which · stands for a space within one.
func words(line string) []string {
	all := strings.Fields(line)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "·", " ")
	}
	return all
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
		{"rule set new 3 5%", []string{"beta: off (robots)", "12.5%: on", "staff, 5% of them: on"}},
		{"rule set new 3 5% --segment=", []string{"beta: off (robots)", "12.5%: on", "5%: on"}},
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
		"rollout none":                                     "missing percentage, such as 50%, --segment, --if or --everyone",
		"rollout none 101%":                                `invalid percentage "101%": must be from 0% to 100%`,
		"rollout none NaN":                                 `invalid percentage "NaN"`,
		"rollout none -- -1%":                              `invalid percentage "-1%"`,
		"rollout none 10% 20%":                             "a rule has one percentage",
		"rollout none 10% --value yes":                     `invalid --value "yes": must be on or off`,
		"rollout none --segment staff --all":               "--all is for two or more segments",
		"rollout on 10%":                                   "so a share for whom it is on changes nothing; give --value off, or change",
		"rollout two 10%":                                  "several shares, in rules 1 and 2;",
		"rollout price 10% --segment staff":                "such as blue=50%",
		"rollout price low=50%":                            "missing --segment, --if or --everyone",
		"rollout price --segment staff":                    "missing shares",
		"rollout price low=50% --segment staff --value on": "rules of variant flags have no --value",
		"rule add none":                                    "missing percentage, --segment, --if or --everyone",
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

		"rollout none 10% --if country":                              `invalid argument "country" for "--if" flag: must be a property, an operator and a value`,
		"rollout none 10% --if country·eq·SE --or nubmer:seats·eq·1": `invalid argument "nubmer:seats eq 1" for "--or" flag: did you mean number:seats?`,
		"rollout none 10% --or country·eq·SE":                        `"--or" flag: must follow --if`,
		"rollout none 10% --segment=":                                "--segment, --if and --except must not be empty",
		"rollout none 10% --if=":                                     "--segment, --if and --except must not be empty",
		"rollout none 10% --except staff":                            "--except needs --segment, --if or --everyone",
		"rollout none 10% --requires two":                            "--requires needs --segment, --if or --everyone",
		"rollout none --everyone --requires=":                        `invalid --requires "": must be a flag, such as new-api`,
		"rollout none --everyone --requires price=low,":              `invalid --requires "price=low,": must be`,
		"rollout none --everyone --requires=price=":                  `invalid --requires "price=": must be`,
		"update none --requires =low":                                `invalid --requires "=low": must be`,
		"rollout none 10% --everyone --segment staff":                "--everyone cannot be combined with --segment and --if",
		"rollout none 10% --start 101%":                              `invalid --start "101%": must be from 0% to 100%`,
		"rollout none 10% --from tomorrow":                           `invalid --from "tomorrow": must be a time such as 2026-11-20T14:00:00Z`,
		"rollout none 10% --until -3d":                               `invalid --until "-3d": must be a time`,
		"rollout none 10% --until 2026-02-30":                        "a day such as 2026-11-20, or in how long, such as 36h or 7d",
		"rollout none 10% --hash md5":                                `invalid --hash "md5": must be flipt, flipt-fine, murmur3 or unleash`,
		"rollout none --segment staff --by account":                  "missing percentage, of which --by says how it is taken",
		"rollout none 10% --portion 20%":                             "rules of boolean flags have no --portion",
		"rollout none --everyone --code-default":                     "rules of boolean flags have no --code-default",
		"rollout price low=1% --everyone --start 5%":                 "rules of variant flags have no --start",
		"rollout price low=1% --everyone --portion=":                 `invalid --portion "": must be from 0% to 100%`,
		"rollout price low=1% --everyone --portion 101%":             `invalid --portion "101%": must be from 0% to 100%`,
		"rollout price low=1% --everyone --portion-hash md5":         "missing --portion, of which --portion-hash says",
		"rollout price low=1% --everyone --code-default":             "--code-default cannot be combined with shares",
	} {
		s.fails(cli.ExitUsage, append([]string{"flag"}, words(args)...), want)
	}
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "nope", "10%"}, "not found")
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "price", "blue=10%", "--segment", "staff"}, "blue")
	if got := s.ok("flag", "list", "-o", "json"); got != before {
		t.Errorf("flags were changed: got %s, want %s", got, before)
	}
}

// TestFlagRuleConditions checks what the options make of the conditions, portions and splits of
// rules, in words and in files.
func TestFlagRuleConditions(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	for _, key := range []string{"staff", "beta", "bots"} {
		s.ok("segment", "create", key, "--constraint", key+" eq yes")
	}
	s.ok("flag", "create", "third")
	s.ok("flag", "create", "new")
	s.ok("flag", "create", "price", "--enabled", "--variant", "low", "--variant", "high", "--variant", "on,sale")
	for _, step := range []struct {
		args  string
		rules []string // of the flag afterwards
		yaml  string   // of the first rule, without spaces and quotes
	}{
		{"rollout new 5% --by account --seed s --hash flipt-fine --start 10%", []string{"5% from 10% by account, with the seed s, hashed by flipt-fine: on"},
			"-threshold:percentage:5value:truestart:10by:accountseed:shash:flipt-fine"},
		{"rollout new 6%", []string{"6% from 10% by account, with the seed s, hashed by flipt-fine: on"}, ""},
		{"rule set new 1 --by= --seed= --hash= --start=", []string{"6%: on"}, "-threshold:percentage:6value:true"},
		{"rollout new 20% --if country·eq·SE", []string{"if country is SE, 20% of them: on", "6%: on"},
			"-segment:value:trueif:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEportion:percentage:20"},
		{"rollout new 30% --if country·eq·SE --start 10% --by account --seed s --hash murmur3",
			[]string{"if country is SE, 30% of them from 10% by account, with the seed s, hashed by murmur3: on", "6%: on"},
			"-segment:value:trueif:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEportion:percentage:30start:10by:accountseed:shash:murmur3"},
		{"rollout new 40% --if country·eq·SE --dry-run",
			[]string{"if country is SE, 30% of them from 10% by account, with the seed s, hashed by murmur3: on", "6%: on"}, ""},
		{"rollout new --if country·eq·SE", []string{"if country is SE: on", "6%: on"}, ""},
		{"rule set new 1 --if not·country·eq·SE --or number:seats·gt·5 --if plan·eq·pro --except bots --except beta",
			[]string{"if any of 2: not (country is SE), seats is greater than 5, and plan is pro, except bots, beta: on", "6%: on"},
			"-segment:value:trueif:-any:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEnot:true" +
				"-type:NUMBER_COMPARISON_TYPEproperty:seatsoperator:gtvalue:5" +
				"-all:-type:STRING_COMPARISON_TYPEproperty:planoperator:eqvalue:proexcept:-bots-beta"},
		{"rule set new 1 --segment staff", []string{"staff, if any of 2: not (country is SE), seats is greater than 5, and plan is pro, except bots, beta: on", "6%: on"}, ""},
		{"rule set new 1 --if= --except=", []string{"staff: on", "6%: on"}, "-segment:key:staffvalue:true"},
		{"rollout new 10% --segment staff", []string{"staff, 10% of them: on", "6%: on"}, "-segment:key:staffvalue:trueportion:percentage:10"},
		{"rollout new 100% --segment staff", []string{"staff: on", "6%: on"}, "-segment:key:staffvalue:true"},
		{"rollout new --segment beta --except staff", []string{"staff: on", "beta, except staff: on", "6%: on"}, ""},
		{"rollout new --segment beta --value off", []string{"staff: on", "beta, except staff: on", "beta: off", "6%: on"}, ""},
		{"rollout new --everyone --value off", []string{"staff: on", "beta, except staff: on", "beta: off", "6%: on", "everyone: off"}, ""},
		{"rule remove new 4", []string{"staff: on", "beta, except staff: on", "beta: off", "everyone: off"}, ""},
		{"rollout new 7%", []string{"staff: on", "beta, except staff: on", "beta: off", "7%: on", "everyone: off"}, ""},
		{"rule set new 1 --everyone --except bots", []string{"everyone, except bots: on", "beta, except staff: on", "beta: off", "7%: on", "everyone: off"},
			"-segment:value:trueexcept:-botseveryone:true"},
		{"rule set new 1 --segment beta", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "7%: on", "everyone: off"}, ""},
		{"rule set new 4 --if plan·eq·pro", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on", "everyone: off"}, ""},
		{"update new --enabled", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on", "everyone: off"}, ""},
		{"rollout new 8%", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on", "8%: on", "everyone: off"}, ""},

		{"rule set new 5 --from 2036-12-01·09:00 --until 2036-12-24", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on",
			"8%, from 1 December 2036 09:00 UTC until 24 December 2036 00:00 UTC: on", "everyone: off"}, ""},
		{"rollout new 9% --until=", []string{"beta, except bots: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on",
			"9%, from 1 December 2036 09:00 UTC: on", "everyone: off"}, ""},
		{"rule set new 1 --until 2036-12-01T09:00:30+01:00", []string{"beta, except bots, until 1 December 2036 08:00:30 UTC: on", "beta, except staff: on", "beta: off", "if plan is pro, 7% of them: on",
			"9%, from 1 December 2036 09:00 UTC: on", "everyone: off"}, "-segment:key:betavalue:trueexcept:-botsuntil:2036-12-01T08:00:30Z"},

		{"rollout price low=100% --everyone", []string{"everyone: 100% low"}, "-everyone:truedistributions:-variant:lowrollout:100"},
		{"rollout price low=50% high=50% --if country·eq·SE --portion 10% --by account", []string{
			"if country is SE, 10% of them: 50% low, 50% high, divided by account", "everyone: 100% low"},
			"-if:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEportion:percentage:10" +
				"split:by:accountdistributions:-variant:lowrollout:50-variant:highrollout:50"},
		{"rule set price 1 --portion-start 30% --portion-by tenant --portion-seed layer --portion-hash flipt --seed s --hash murmur3", []string{
			"if country is SE, 10% of them from 30% by tenant, with the seed layer, hashed by flipt: 50% low, 50% high, divided by account, with the seed s, hashed by murmur3", "everyone: 100% low"},
			"-if:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEportion:percentage:10start:30by:tenantseed:layerhash:flipt" +
				"split:by:accountseed:shash:murmur3distributions:-variant:lowrollout:50-variant:highrollout:50"},
		{"rule set price 1 --code-default --portion= --by= --seed= --hash=", []string{"if country is SE: the default in the code", "everyone: 100% low"},
			"-if:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEcode_default:true"},
		{"rule set price 1 high=100% --portion 100%", []string{"if country is SE: 100% high", "everyone: 100% low"}, ""},
		{"rollout price low=100% --segment staff", []string{"if country is SE: 100% high", "staff: 100% low", "everyone: 100% low"}, ""},
		{"rollout price high=100% --if country·eq·SE", []string{"if country is SE: 100% high", "staff: 100% low", "everyone: 100% low"}, ""},
		{"rollout price high=100% --if country·eq·SE --from 2036-12-01", []string{"if country is SE, from 1 December 2036 00:00 UTC: 100% high", "staff: 100% low", "everyone: 100% low"}, ""},
		{"rule set price 1 --from= --until 2036-12-24T00:00:00Z", []string{"if country is SE, until 24 December 2036 00:00 UTC: 100% high", "staff: 100% low", "everyone: 100% low"}, ""},

		{"rollout third 20% --everyone --requires price=low,high --requires new", []string{"everyone, needs price to be low or high and new to be true, 20% of them: on"},
			"-segment:value:trueeveryone:truerequires:-flag:priceis:-low-high-flag:newportion:percentage:20"},
		{"rollout third 30% --everyone --requires new=false --dry-run", []string{"everyone, needs price to be low or high and new to be true, 20% of them: on"}, ""},
		{"rollout third 30% --everyone", []string{"everyone, needs price to be low or high and new to be true, 30% of them: on"}, ""},
		{"rule set third 1 --requires new=false --if country·eq·SE", []string{"if country is SE, needs new to be false, 30% of them: on"}, ""},
		{"rule set third 1 --requires price=low,\"on,sale\"", []string{`if country is SE, needs price to be low or on,sale, 30% of them: on`}, ""},
		{"rule set third 1 --requires=", []string{"if country is SE, 30% of them: on"}, "-segment:value:trueif:-all:-type:STRING_COMPARISON_TYPEproperty:countryoperator:eqvalue:SEportion:percentage:30"},
		{"rule add third 5% --requires price=low --segment beta --at 1", []string{"beta, needs price to be low, 5% of them: on", "if country is SE, 30% of them: on"}, ""},
		{"rollout price high=100% --segment staff --requires new", []string{"if country is SE, until 24 December 2036 00:00 UTC: 100% high",
			"staff, needs new to be true: 100% high", "everyone: 100% low"}, ""},
	} {
		args := words(step.args)
		s.ok(append([]string{"flag"}, args...)...)
		key := args[1]
		if args[0] == "rule" {
			key = args[2]
		}
		if diff := cmp.Diff(step.rules, s.rules(key)); diff != "" {
			t.Fatalf("after %q (-want +got):\n%s", step.args, diff)
		}
		if got := s.ruleYAML(key); step.yaml != "" && !strings.HasPrefix(got, step.yaml) {
			t.Errorf("after %q: got %s, want %s", step.args, got, step.yaml)
		}
	}
	s.fails(cli.ExitFailure, words("flag delete price --yes"), `flag "default/price" is required by flag "third"`)
	s.fails(cli.ExitFailure, words("flag rule add new --everyone --requires price=none"), `flag "price" has no variant "none"`)
	s.fails(cli.ExitFailure, words("flag rule add new --everyone --requires new"), `flag "new" requires itself: new → new`)
	s.fails(cli.ExitUsage, words("flag rule set price 1 --if="), "missing --segment, --if or --everyone")
}

// ruleYAML returns the rules of the flag as "flag get -o yaml" prints them, without spaces and
// quotes.
func (s *shell) ruleYAML(key string) string {
	_, rules, _ := strings.Cut(s.ok("flag", "get", key, "-o", "yaml"), "ules:")
	if rules == "" {
		_, rules, _ = strings.Cut(s.ok("flag", "get", key, "-o", "yaml"), "rollouts:")
	}
	return strings.Join(strings.FieldsFunc(rules, func(r rune) bool { return r == ' ' || r == '\n' || r == '"' }), "")
}

// TestFlagRuleAdditions: on a database of earlier releases, what they cannot read is refused.
func TestFlagRuleAdditions(t *testing.T) {
	s := newEmptyShell(t)
	s.ok("migrate")
	s.withoutAdditions()
	s.ok("flag", "create", "new")
	server := s.serve()
	r := s.fails(cli.ExitFailure, []string{"flag", "rollout", "new", "20%", "--if", "country eq SE", "--address", server.web},
		"instances of earlier releases cannot read this; once none is left, run guidon migrate additions")
	if strings.Contains(r.err, "run the command again") {
		t.Errorf("the refusal is taken for a conflict: %s", r.err)
	}
	s.ok("flag", "rollout", "new", "20%", "--address", server.web)
	server.wait(cli.ExitOK)
	s.ok("migrate", "additions")
	s.ok("flag", "rollout", "new", "20%", "--if", "country eq SE")
}
