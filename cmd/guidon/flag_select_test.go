package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestSeveralFlags: verbs take the keys of several flags, or a query, and change all of them in
// one revision or none.
func TestSeveralFlags(t *testing.T) {
	s := newShell(t)
	for _, key := range []string{"a", "b", "c"} {
		s.ok("flag", "create", key, "--metadata", `tags=["web"]`, "--metadata", "owner=ada")
	}
	states := func() string {
		return strings.ReplaceAll(s.ok("flag", "list", "-q", "is:on", "-o", "name"), "\n", " ") + "@" +
			strings.SplitN(s.ok("log", "--limit", "1", "-o", "name"), "\n", 2)[0]
	}
	for _, step := range []struct {
		args []string
		want string // flags that are on, and the revision
		says string
	}{
		{[]string{"on", "a", "b", "--dry-run"}, "@4", "would turn on flag b in default\n    effect: everyone gets On\n"},
		{[]string{"on", "a", "b", "--everyone"}, "a b @5", "turned on flag a in default: on for everybody\nturned on flag b"},
		{[]string{"off", "-q", "tag:web", "--dry-run"}, "a b @5", "would turn off flag c in default\n    effect: nobody gets anything else\n"},
		{[]string{"off", "-q", "tag:web is:on", "--yes"}, "@6", "turned off flag b"},
		{[]string{"on", "a", "b"}, "a b @7", "turned on flag b"},
		{[]string{"on", "a", "b"}, "a b @7", "nothing to do for flag b"},
		{[]string{"off", "a", "b", "-o", "name"}, "@8", "off\noff\n"},
		{[]string{"on", "a", "b"}, "a b @9", "turned on flag a"},
		{[]string{"update", "-q", "owner:ada", "--description", "Ours", "--dry-run"}, "a b @9", "0 to create, 3 to update"},
		{[]string{"update", "-q", "owner:ada", "--description", "Ours", "-y"}, "a b @10", "updated flag c in default"},
		{[]string{"create", "d", "--dry-run"}, "a b @10", "create flag d"},
		{[]string{"delete", "a", "c", "--dry-run"}, "a b @10", "delete flag c\n"},
		{[]string{"delete", "-q", "owner:ada is:off", "-y"}, "a b @11", "deleted flag c from default"},
	} {
		out := s.ok(append([]string{"flag"}, step.args...)...)
		if got := states(); got != step.want || !strings.Contains(out, step.says) {
			t.Errorf("%q: got %s and %q, want %s and %q", step.args, got, out, step.want, step.says)
		}
	}

	s.fails(cli.ExitFailure, []string{"flag", "off", "-q", "tag:web"}, "This turns off in default: flag a, b\n", "run again with --yes")
	s.typing("no\n").fails(cli.ExitFailure, []string{"flag", "delete", "-q", "tag:web"}, "This deletes in default: flag a, b\n", "not confirmed")
	s.fails(cli.ExitFailure, []string{"flag", "off", "a", "none"}, `flag "default/none" not found`)
	s.fails(cli.ExitFailure, []string{"flag", "update", "a", "none", "--name", "X"}, `flag "default/none" not found`)
	s.fails(cli.ExitFailure, []string{"flag", "on", "-q", "nothing-has-this"}, `no flag in default matches "nothing-has-this"`)
	s.fails(cli.ExitUsage, []string{"flag", "on", "-q", "tag:web", "a"}, "give either --query or the keys of flags")
	s.fails(cli.ExitUsage, []string{"flag", "on", "-q", " "}, "--query must not be empty")
	s.fails(cli.ExitUsage, []string{"flag", "on"}, "missing argument <flag>")
	if got := states(); got != "a b @11" {
		t.Errorf("after errors: got %s", got)
	}
	for _, query := range []string{"tag:web", "tag:web is:on"} { // several flags, and one
		for _, verb := range [][]string{{"update", "--description", query}, {"off"}} {
			args := append([]string{"flag"}, append(verb, "-q", query, "-y", "-o", "json")...)
			if got := s.ok(args...); !strings.HasPrefix(got, "[\n") {
				t.Errorf("%q: got %s, want a list", args, got)
			}
			s.ok("flag", "on", "a")
		}
	}
	s.ok("segment", "create", "beta")
	s.ok("flag", "rollout", "a", "--segment", "beta")
	s.fails(cli.ExitFailure, []string{"segment", "delete", "beta", "--dry-run"}, `segment "beta" not found`)
}

// TestListOrder: lists are sorted by key unless --sort says otherwise, and limited by --limit.
func TestListOrder(t *testing.T) {
	s := newShell(t)
	for _, kind := range []string{"flag", "segment"} {
		s.ok(kind, "create", "b", "--name", "One")
		s.ok(kind, "create", "a", "--name", "Two")
		s.ok(kind, "create", "c", "--name", "Three")
		s.ok(kind, "update", "b", "--description", "changed last")
		for args, want := range map[string]string{
			"": "a b c", "--sort key": "a b c", "--sort name": "b c a", "--sort changed": "b c a", "--sort changed --limit 2": "b c", "--limit 1": "a",
		} {
			got := strings.Join(strings.Fields(s.ok(append([]string{kind, "list", "-o", "name"}, strings.Fields(args)...)...)), " ")
			if got != want {
				t.Errorf("%s list %s: got %s, want %s", kind, args, got, want)
			}
		}
		s.fails(cli.ExitUsage, []string{kind, "list", "--sort", "size"}, "must be key, name or changed")
		s.fails(cli.ExitUsage, []string{kind, "list", "--limit", "-1"}, "--limit must not be negative")
	}
}
