package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestExitCodes checks that differences are a success unless --exit-code is given, and that
// the help of a command lists just its own codes.
func TestExitCodes(t *testing.T) {
	s := newShell(t)
	file := s.file("till.yaml", till)
	s.ok("import", s.file("small.yaml", small))
	for _, args := range [][]string{
		{"plan", file}, {"compare", "small", file}, {"import", file, "--dry-run"},
		{"promote", "small", "default", "--dry-run"},
	} {
		s.ok(args...)
		s.fails(cli.ExitFindings, append(args, "--exit-code"))
	}
	s.ok("import", file)
	for _, args := range [][]string{
		{"plan", file, "--exit-code"}, {"compare", "till", file, "--exit-code"}, {"import", file, "--update", "--dry-run", "--exit-code"},
	} {
		s.ok(args...)
	}
	s.fails(cli.ExitUsage, []string{"promote", "small", "default", "--exit-code"}, "--exit-code requires --dry-run")
	for command, want := range map[string]string{
		"plan":         "  3    with --exit-code: there are changes\n",
		"undo":         "  3    with --exit-code: there are changes (requires --dry-run)\n",
		"validate":     "  3    there are errors or, with --strict, any findings\n",
		"config check": "  3    there are errors or, with --online, a provider cannot be used\n",
		"flag list":    "",
	} {
		help := s.ok(append(strings.Fields(command), "--help")...)
		_, codes, _ := strings.Cut(help, "Exit codes:\n")
		if !strings.Contains(codes, want) || (want == "") == strings.Contains(codes, "  3 ") {
			t.Errorf("%s --help: got the exit codes\n%s, want %q", command, codes, want)
		}
	}
}
