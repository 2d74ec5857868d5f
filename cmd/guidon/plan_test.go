package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const till = `namespace: {key: till, name: Till}
flags:
- {key: cash, name: Cash, type: BOOLEAN_FLAG_TYPE, enabled: true}
- {key: card, name: Card}
`

// dir writes files to a new directory, by name and content in turn.
func (s *shell) dir(files ...string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return dir
}

// changes runs a command that must exit with the code for changes, and returns its output.
func (s *shell) changes(args ...string) string {
	s.t.Helper()
	r := s.run(append(args, "--exit-code")...)
	if r.code != cli.ExitFindings {
		s.t.Fatalf("%q: exit code %d, want %d: %s%s", args, r.code, cli.ExitFindings, r.out, r.err)
	}
	return r.out
}

// wantText checks that the text contains all of the parts.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("got %q, want it to contain %q", text, part)
		}
	}
}

// TestPlanAndApply plans and applies a directory of two namespaces.
func TestPlanAndApply(t *testing.T) {
	s := newShell(t)
	s.ok("migrate", "up")
	dir := s.dir("b.yaml", till, "a.yml", small, "notes.txt", "not a document")
	wantText(t, s.changes("plan", dir), "small: 3 to create, 0 to update, 0 to delete, 0 unchanged\n  create namespace small\n  create flag one\n", "till: 3 to create")
	if out := s.ok("export", "--all-namespaces"); strings.Contains(out, "till") {
		t.Errorf("the plan was applied:\n%s", out)
	}
	s.fails(cli.ExitFailure, []string{"apply", dir}, "nothing was changed: cannot ask for confirmation", "6 changes will be applied to small, till.")
	out := s.typing("yes\n").ok("apply", dir, "-m", "first")
	wantText(t, out, "applying in this order: small, till\nsmall: 3 changes applied; revision 1\ntill: 3 changes applied; revision 1\n")
	wantText(t, s.ok("log", "-n", "till"), "import", "first")
	wantText(t, s.ok("plan", dir), "small: 0 to create, 0 to update, 0 to delete, 2 unchanged\ntill: ")
	wantText(t, s.ok("apply", dir), "nothing to do\n")

	less := s.file("till.yaml", strings.Replace(strings.Replace(till, "- {key: card, name: Card}\n", "", 1), "enabled: true", "description: Coins", 1))
	wantText(t, s.changes("plan", less), "till: 0 to create, 1 to update, 0 to delete, 0 unchanged\n", "  update flag cash\n    description nothing → \"Coins\"\n    default value on → off\n", "  warning: flag \"cash\" goes off by default\n")
	wantText(t, s.changes("plan", less, "--drop"), "1 to delete", "  delete flag card\n")
	s.ok("apply", less, "--drop", "--yes")
	if out := s.ok("export", "--namespaces", "till"); strings.Contains(out, "card") || !strings.Contains(out, "Coins") {
		t.Errorf("got\n%s", out)
	}
}

// TestSavedPlan: what was saved is applied without asking, or nothing.
func TestSavedPlan(t *testing.T) {
	s := newShell(t)
	s.ok("migrate", "up")
	dir := s.dir("small.yaml", small, "till.yaml", till)
	saved := filepath.Join(t.TempDir(), "plan.json")
	s.changes("plan", dir, "--out", saved)
	s.ok("apply", dir, "--plan", saved)
	s.ok("plan", dir)

	edited := s.dir("small.yaml", strings.ReplaceAll(small, "Two", "Second"), "till.yaml", strings.ReplaceAll(till, "Card", "Credit card"))
	s.changes("plan", edited, "--out", saved)
	s.fails(cli.ExitFailure, []string{"apply", dir, "--plan", saved}, "the plan is no longer the same: flag \"two\" would no longer change")
	s.fails(cli.ExitFailure, []string{"apply", edited, "--plan", saved, "--drop"}, "planned with --drop=false, but applied with --drop=true")
	s.fails(cli.ExitFailure, []string{"apply", filepath.Join(edited, "till.yaml"), "--plan", saved}, `a plan for the namespaces ["small" "till"], but the files have ["till"]`)
	s.fails(cli.ExitFailure, []string{"apply", edited, "--plan", s.file("x.json", "{}")}, "a saved plan of version 0")
	s.fails(cli.ExitFailure, []string{"apply", edited, "--plan", s.file("y.json", "[]")}, "not a saved plan")

	// Somebody changes what the second namespace is planned for: the first is applied.
	s.ok("import", s.file("card.yaml", "namespace: till\nflags: [{key: card, name: Debit card}]"), "--update")
	r := s.fails(cli.ExitFailure, []string{"apply", edited, "--plan", saved},
		`till.yaml, namespace "till": nothing was changed: the plan is no longer the same: now update flag "card": name "Debit card" → "Credit card"`,
		"plan again to see what has changed since", "applied: small\nnot applied: till")
	wantText(t, r.out, "small: 1 change applied; revision 2")
	r = s.fails(cli.ExitFailure, []string{"apply", edited, "--plan", saved, "--output=json"}, "applied: none\nnot applied: small, till")
	var outcomes []struct{ Status string }
	if err := json.Unmarshal([]byte(r.out), &outcomes); err != nil || len(outcomes) != 2 || outcomes[0].Status != "failed" || outcomes[1].Status != "not applied" {
		t.Errorf("got %s: %v", r.out, err)
	}
}

// TestPlanErrors: all errors have the exit code 1, since 2 means that there are changes, and
// the problems of all files are reported.
func TestPlanErrors(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("small.yaml", small))
	s.fails(cli.ExitUsage, []string{"plan"}, "specify at least one file")
	s.fails(cli.ExitUsage, []string{"plan", "x.yaml", "--frobnicate"}, "unknown flag")
	s.fails(cli.ExitUsage, []string{"plan", "x.yaml", "--address", "http://127.0.0.1:1", "--db", "x"}, "cannot be combined")
	s.fails(cli.ExitFailure, []string{"plan", "missing.yaml"}, "missing.yaml: no such file")
	s.fails(cli.ExitFailure, []string{"plan", "missing/"}, "missing/: no such file")
	s.fails(cli.ExitFailure, []string{"plan", t.TempDir()}, "contains no .yaml, .yml or .json file")
	s.fails(cli.ExitFailure, []string{"plan", s.file("a.yaml", till), s.file("b.yaml", till)}, `namespace "till" is in`)
	s.fails(cli.ExitUsage, []string{"promote", "a"}, "specify the source and the target")
	// A variable that is not set must not mean everything.
	for _, command := range [][]string{{"promote", "small", "till"}, {"restore", "small@1"}, {"undo", "-n", "small"}} {
		for _, option := range []string{"--flag", "--segment"} {
			s.fails(cli.ExitUsage, append(command, option, "", "--yes"), option+" must not be empty")
		}
	}
	s.fails(cli.ExitUsage, []string{"promote", "small", "till", "--keep", ""}, "--keep must not be empty")
	bad := s.dir("a.yaml", "namespace: small\nflags: [{key: a b, name: x}, {key: c, name: x, rules: [{segment: gone}]}]", "b.yaml", "namespace: other\nsegments: [{key: d}]")
	s.fails(cli.ExitFailure, []string{"plan", bad}, `a.yaml, namespace "small": flags[0] "a b"`, `segment "gone" not found`, `b.yaml, namespace "other": segments[0] "d"`)
	s.fails(cli.ExitFailure, []string{"apply", bad, "--yes"}, "nothing was applied: ")
}

// TestExportDir: the plan of an exported directory is empty, also in JSON, and its files are
// sorted by key.
func TestExportDir(t *testing.T) {
	s := newShell(t)
	s.ok("import", shop)
	s.ok("import", s.file("small.yaml", strings.ReplaceAll(small, "key: one", "key: zero")))
	s.ok("import", s.file("till.yaml", strings.ReplaceAll(till, "name: Card", "name: Card, variants: [{key: z}, {key: a}]")))
	for _, format := range []string{"yaml", "json"} {
		dir := filepath.Join(t.TempDir(), "flags")
		for range 2 { // the second replaces the files
			s.ok("export", "--all-namespaces", "--dir", dir, "-o", format)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 4 {
			t.Fatalf("got %v, %v", entries, err)
		}
		s.ok("plan", dir)
		s.ok("plan", dir, "--drop")
		empty := newShell(t)
		empty.ok("apply", dir, "--yes")
		empty.ok("plan", dir, "--drop")
		text, err := os.ReadFile(filepath.Join(dir, "small."+format))
		if err != nil || strings.Index(string(text), "two") > strings.Index(string(text), "zero") {
			t.Errorf("%v, not sorted by key:\n%s", err, text)
		}
	}
	s.fails(cli.ExitUsage, []string{"export", "--dir", "x", "--out", "y"})
	s.ok("import", s.file("big.yaml", "namespace: TILL"))
	s.fails(cli.ExitFailure, []string{"export", "--all-namespaces", "--dir", t.TempDir()}, "their keys differ only in case")
}

func TestPromote(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("staging.yaml", `namespace: staging
flags:
- {key: checkout, name: Checkout, type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [{segment: {key: beta, value: true}}, {threshold: {percentage: 50, value: true}}]}
- {key: other, name: Other}
segments: [{key: beta, name: Beta, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: pro}]}]`))
	s.ok("import", s.file("live.yaml", `namespace: live
flags: [{key: checkout, name: Checkout, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 5, value: true}}]}, {key: mine, name: Mine}]`))
	promote := []string{"promote", "staging", "live", "--flag", "checkout", "--with-segments", "--keep", "enabled,percentages"}
	want := "live: 1 to create, 1 to update, 0 to delete, 0 unchanged; from staging at revision 1\n  create segment beta (required)\n  update flag checkout\n    rule 1 added (segments beta: on)\n"
	if got := s.changes(append(promote, "--dry-run")...); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := s.ok(append(promote, "--yes", "-m", "go")...), want+"live: 2 changes applied; revision 2\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantText(t, s.ok("log", "-n", "live"), "promotion from staging@1", "go")
	wantText(t, s.ok(append(promote, "--yes")...), "nothing to do\n")
	s.ok(append(promote, "--dry-run", "--output=json")...)
	s.fails(cli.ExitFailure, []string{"promote", "staging", "live", "--flag", "gone"}, `flag "gone" not found in namespace "staging"`)
	s.fails(cli.ExitFailure, []string{"promote", "staging", "default", "--flag", "checkout", "--with-segments=false"}, `segment "beta" not found`)
	s.fails(cli.ExitFailure, []string{"promote", "staging", "nowhere"}, `namespace "nowhere" not found`)
	s.ok("promote", "staging", "live", "--drop", "--yes", "--output=json")
	if out := s.ok("export", "--namespaces", "live"); strings.Contains(out, "mine") || !strings.Contains(out, "percentage: 50") {
		t.Errorf("got\n%s", out)
	}
}
