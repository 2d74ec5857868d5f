package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestFlagNamespaces checks what a flag is in each namespace.
func TestFlagNamespaces(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	for _, namespace := range []string{"shop", "empty", "copy"} {
		s.ok("namespace", "create", namespace)
	}
	for _, namespace := range []string{"default", "shop", "copy"} {
		s.ok("flag", "create", "pay", "-n", namespace)
		if namespace != "shop" {
			s.ok("flag", "rollout", "pay", "20%", "-n", namespace)
		}
	}
	var got []string
	for line := range strings.Lines(s.ok("flag", "get", "pay", "--all-namespaces")) {
		words := strings.Fields(line)
		got = append(got, strings.Join(words[:len(words)-1], " ")) // without the time
	}
	want := "NAMESPACE STATE SAME REVISION|default on for 20% yes 3|shop off - 2|empty no flag - 1|copy on for 20% yes 3"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("got  %s\nwant %s", joined, want)
	}
	if got := s.ok("flag", "get", "pay", "-n", "copy", "--all-namespaces", "-o", "name"); got != "copy\ndefault\nshop\nempty\n" {
		t.Errorf("names: got %q", got)
	}
	if got := s.ok("flag", "get", "pay", "--all-namespaces", "-o", "json"); !strings.Contains(got, `"namespaceKey": "default"`) {
		t.Errorf("JSON: got %s", got)
	}
	s.fails(cli.ExitFailure, []string{"flag", "get", "nope", "--all-namespaces"}, `flag "nope" not found in any namespace`)
}
