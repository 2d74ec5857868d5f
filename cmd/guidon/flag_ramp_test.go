package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestFlagRamp covers the actions on a ramp that is at its first step.
func TestFlagRamp(t *testing.T) {
	s := newShell(t)
	start := time.Now().Add(-time.Hour).UTC().Truncate(time.Minute)
	s.ok("import", s.file("flags.yaml", fmt.Sprintf(`version: guidon/1
namespace: default
flags:
- {key: plain, name: Plain, type: BOOLEAN_FLAG_TYPE}
- {key: new, name: New, type: BOOLEAN_FLAG_TYPE, rollouts: [
    {segment: {value: true}, everyone: true, until: "2020-01-01T00:00:00Z"},
    {threshold: {percentage: 80, value: true, ramp: {start: %[1]q, from: 2, steps: [{percentage: 12, for: 100h}]}}}]}
- {key: two, name: Two, type: BOOLEAN_FLAG_TYPE, rollouts: [
    {threshold: {percentage: 20, value: true, ramp: {start: %[1]q, over: 100h, confirm: {every: 30m}}}},
    {threshold: {percentage: 90, value: true, ramp: {start: %[1]q, over: 100h}}}]}
`, start.Format(time.RFC3339))))
	for _, step := range []struct{ args, done, now string }{
		{"new pause", "paused", "12% now, paused"},
		{"new resume", "resumed", "12% now, 80% on "},
		{"new reverse --rule 2", "reversed", "12% now, back to 2% on "},
		{"new stop", "stopped", "12%: on"},
		{"two confirm --rule 1", "confirmed", "0% now, 20% on "},
		{"two finish --rule 2 -m enough", "finished", "90%: on"},
	} {
		args := strings.Fields(step.args)
		got := s.ok(append([]string{"flag", "ramp"}, args...)...)
		if want := step.done + " the ramp of flag " + args[0] + " in default\n"; !strings.HasPrefix(got, want) || !strings.Contains(got, step.now) {
			t.Errorf("%s: got %q, want it to begin with %q and to contain %q", step.args, got, want, step.now)
		}
	}
	if got := s.ok("log", "--limit", "1", "-o", "json"); !strings.Contains(got, `"enough"`) {
		t.Errorf("the message: got %s", got)
	}
	for args, want := range map[string]string{
		"new pause":            `flag "new" has no ramp`,
		"two stop --rule 2":    `rule 2 of flag "two" has no ramp`,
		"two resume":           "the ramp is not paused",
		"none pause":           `flag "default/none" not found`,
		"none pause --dry-run": `flag "default/none" not found`,
	} {
		s.fails(cli.ExitFailure, append([]string{"flag", "ramp"}, strings.Fields(args)...), want)
	}
	for args, want := range map[string]string{
		"new":                "missing argument <action>: guidon flag ramp <flag> <action>",
		"new halt":           `invalid action "halt": must be pause, resume, reverse, confirm, stop or finish`,
		"new pause two":      `unexpected argument "two"`,
		"new pause --rule 0": "invalid --rule 0",
	} {
		s.fails(cli.ExitUsage, append([]string{"flag", "ramp"}, strings.Fields(args)...), want)
	}
}

// TestFlagRampDryRun: --dry-run says what an action does, and when, and changes nothing.
func TestFlagRampDryRun(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	s.ok("flag", "rollout", "new", "50%", "--steps", "20%:24h", "--ramp-start", "2090-12-01")
	before := s.rules("new")
	const want = `would finish the ramp of flag new in default
    effect: 50% of all entities go from off to on
    effect: from 1 December 2090 00:00 UTC: 30% of all entities go from off to on
    effect: from 2 December 2090 00:00 UTC: nothing changes for anybody
`
	if diff := cmp.Diff(want, s.ok("flag", "ramp", "new", "finish", "--dry-run")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, s.rules("new")); diff != "" {
		t.Errorf("the rules changed (-before +after):\n%s", diff)
	}
}

// TestFlagRampOptions checks what the options of a ramp make of the rules of flags, one after the
// other.
func TestFlagRampOptions(t *testing.T) {
	const (
		from    = " from 1 December 2090 00:00 UTC"
		waiting = " now, starting on 1 December 2090 00:00 UTC, "
	)
	s := newShell(t)
	s.ok("migrate")
	s.ok("segment", "create", "beta", "--constraint", "group eq beta")
	s.ok("flag", "create", "new")
	s.ok("flag", "create", "price", "--enabled", "--variant", "low", "--variant", "high")
	for _, step := range []struct {
		args  string
		rules []string // of the flag afterwards
	}{
		{"rollout new 90% --over 3d --ramp-start 2090-12-01", []string{"90%, reached over 72h" + from + ": on (0%" + waiting + "90% on 4 December 2090 00:00 UTC)"}},
		{"rule set new 1 --description slowly", []string{"90%, reached over 72h" + from + ": on (slowly) (0%" + waiting + "90% on 4 December 2090 00:00 UTC)"}},
		{"rule set new 1 --ramp-from 5 --ramp-start 2090-12-02T08:59:30Z", []string{
			"90%, reached over 72h from 2 December 2090 09:00 UTC, starting at 5%: on (slowly) " +
				"(5% now, starting on 2 December 2090 09:00 UTC, 90% on 5 December 2090 09:00 UTC)"}},
		{"rollout new 10% --over 0", []string{"10%: on (slowly)"}},
		{"rollout new 40% --steps 20%:24h,30%:1d12h --ramp-start 2090-12-01 --description=", []string{
			"40%, reached after 20% for 24h, 30% for 36h" + from + ", starting at 10%: on (10%" + waiting + "40% on 3 December 2090 12:00 UTC)"}},
		{"rule set new 1 --confirm-every 1d --lapse back", []string{
			"40%, reached after 20% for 24h, 30% for 36h" + from + ", starting at 10%, confirmed every 24h or taken back: on (10%" + waiting +
				"40% on 3 December 2090 12:00 UTC, if it is confirmed by 2 December 2090 00:00 UTC)"}},
		{"rule set new 1 --confirm-every 90d", []string{
			"40%, reached after 20% for 24h, 30% for 36h" + from + ", starting at 10%, confirmed every 2160h or taken back: on (10%" + waiting +
				"40% on 3 December 2090 12:00 UTC)"}},
		{"rule set new 1 --confirm-every 0", []string{
			"40%, reached after 20% for 24h, 30% for 36h" + from + ", starting at 10%: on (10%" + waiting + "40% on 3 December 2090 12:00 UTC)"}},
		{"rollout new 60% --over 1h --ramp-start 2090-12-01", []string{ // from where the ramp is, not from its target
			"60%, reached over 1h" + from + ", starting at 10%: on (10%" + waiting + "60% on 1 December 2090 01:00 UTC)"}},
		{"rule remove new 1", nil},
		{"rollout new --segment beta --over 1h --ramp-start 2090-12-01", []string{
			"beta, 100% of them, reached over 1h" + from + ": on (0%" + waiting + "100% on 1 December 2090 01:00 UTC)"}},
		{"rollout new --segment beta --over 0", []string{"beta: on"}},
		{"rollout new --segment beta 0% --over 1h --ramp-start 2090-12-01", []string{
			"beta, 0% of them, reached over 1h" + from + ", starting at 100%: on (100%" + waiting + "0% on 1 December 2090 01:00 UTC)"}},
		{"rollout price low=50% high=50% --everyone --portion 100% --over 1h --ramp-start 2090-12-01", []string{
			"everyone, 100% of them, reached over 1h" + from + ": 50% low, 50% high (0%" + waiting + "100% on 1 December 2090 01:00 UTC)"}},
		{"rule set price 1 low=100%", []string{
			"everyone, 100% of them, reached over 1h" + from + ": 100% low (0%" + waiting + "100% on 1 December 2090 01:00 UTC)"}},
		{"rule set price 1 --portion=", []string{"everyone: 100% low"}},
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
}

// TestFlagRampErrors: a percentage is not set while a ramp makes it another one, and options of a
// ramp need one.
func TestFlagRampErrors(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("segment", "create", "beta", "--constraint", "group eq beta")
	s.ok("flag", "create", "plain")
	s.ok("flag", "rollout", "plain", "20%")
	s.ok("flag", "create", "new")
	s.ok("flag", "rollout", "new", "90%", "--over", "3d")
	s.ok("flag", "rollout", "new", "80%", "--segment", "beta", "--over", "3d")
	s.ok("flag", "create", "price", "--enabled", "--variant", "low")
	s.ok("flag", "rollout", "price", "low=100%", "--everyone", "--portion", "50%", "--over", "3d")
	for args, want := range map[string]string{
		"rollout new 50%":                                 "the share has a ramp to 90%: give --over 0 to end that",
		"rule set new 2 50%":                              "the share has a ramp to 90%",
		"rollout new --segment beta":                      "the share has a ramp to 80%",
		"rollout new --segment beta 10%":                  "the share has a ramp to 80%",
		"rule set price 1 --portion 10%":                  "the share has a ramp to 50%",
		"rollout plain 20% --over 3d":                     "the share is at 20% already: give another percentage, or --ramp-from",
		"rollout plain 50% --ramp-from 5":                 "--ramp-from needs --over or --steps",
		"rollout plain 50% --confirm-every 3h":            "--confirm-every needs --over or --steps",
		"rollout plain 50% --over 3h --lapse back":        "--lapse needs --confirm-every",
		"rollout plain 50% --over 3h --lapse wait":        "must be hold or back",
		"rollout plain 50% --over 3h --ramp-from x":       `invalid --ramp-from "x"`,
		"rollout plain 50% --over 3h --ramp-start soon":   `invalid --ramp-start "soon"`,
		"rollout plain 50% --steps 5%":                    "each must be a percentage and how long it holds, such as 5%:24h",
		"rollout plain 50% --steps x:24h":                 `invalid percentage "x"`,
		"rollout price low=100% --segment beta --over 1h": "missing --portion, of which --over says how it is taken",
	} {
		s.fails(cli.ExitUsage, append([]string{"flag"}, strings.Fields(args)...), want)
	}
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "plain", "50%", "--over", "30s"}, "invalid field ramp.over: must be between 1 minute and 366 days")
	s.fails(cli.ExitFailure, []string{"flag", "rollout", "plain", "50%", "--over", "3h", "--steps", "5:1h"}, "invalid field ramp: needs either over or steps")
	s.ok("flag", "update", "plain", "--enabled")
	s.fails(cli.ExitUsage, []string{"flag", "rollout", "plain", "100%", "--over", "3h"}, "changes nothing")
}

// TestFlagRampStart: a ramp starts with the next whole minute, or when its rule begins.
func TestFlagRampStart(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	start := func(args ...string) time.Time {
		var flag struct {
			Rollouts []struct {
				Threshold struct{ Ramp struct{ Start time.Time } }
			}
		}
		if err := json.Unmarshal([]byte(s.ok(append([]string{"flag", "rollout", "new", "50%", "-o", "json"}, args...)...)), &flag); err != nil {
			t.Fatal(err)
		}
		return flag.Rollouts[0].Threshold.Ramp.Start
	}
	earliest := time.Now()
	got := start("--over", "3d")
	if got.Before(earliest) || got.After(time.Now().Add(time.Minute)) || !got.Equal(got.Truncate(time.Minute)) {
		t.Errorf("got the start %v, want the first whole minute after %v", got, earliest)
	}
	if got, want := start("--steps", "20%:1h", "--from", "2090-12-01T09:00:01Z"), time.Date(2090, 12, 1, 9, 1, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("of a later rule: got the start %v, want %v", got, want)
	}
}

// TestFlagRampTimeline: a long timeline is cut in the middle, but not for programs, and the words of
// a ramp are those of the state that is read.
func TestFlagRampTimeline(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "new")
	s.ok("flag", "rollout", "new", "100%", "--over", "100h", "--ramp-start", "2090-12-01")
	lines := strings.Split(strings.TrimSpace(s.ok("flag", "timeline", "new")), "\n")
	if len(lines) != 21 {
		t.Fatalf("got %d lines, want 21", len(lines))
	}
	want := []string{"1 December 2090 19:00 UTC: rule 1 is for 19%", "and 80 more, then", "5 December 2090 04:00 UTC: rule 1 is for 100%"}
	if diff := cmp.Diff(want, lines[18:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := strings.Count(s.ok("flag", "timeline", "new", "-o", "name"), "\n"); got != 100 {
		t.Errorf("for programs: got %d boundaries, want 100", got)
	}
	if got, want := s.ok("flag", "get", "new", "-n", "default@2090-12-03T00:30:00Z"), "(48% now, 100% on 5 December 2090 04:00 UTC)"; !strings.Contains(got, want) {
		t.Errorf("at a time to come: got %s, want it to contain %q", got, want)
	}
}
