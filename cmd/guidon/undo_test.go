package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// history makes four revisions of the namespace till.
func history(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	for _, flags := range []string{
		"[{key: card, name: Card, type: BOOLEAN_FLAG_TYPE}]",
		"[{key: card, name: Card, type: BOOLEAN_FLAG_TYPE, enabled: true}, {key: cash, name: Cash}]",
		"[{key: card, name: Plastic, type: BOOLEAN_FLAG_TYPE, enabled: true}]",
		"[{key: card, name: It's plastic, type: BOOLEAN_FLAG_TYPE, enabled: true, metadata: {owner: a=b}}]",
	} {
		s.ok("apply", s.file("till.yaml", "namespace: till\nflags: "+flags), "--drop", "--yes")
	}
	return s
}

func TestRestore(t *testing.T) {
	s := history(t)
	restore := []string{"restore", "till@2", "--flag", "cash"}
	want := "till: 1 to create, 0 to update, 0 to delete, 0 unchanged; from till at revision 2\n  create flag cash\n"
	if got := s.changes(append(restore, "--dry-run")...); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantText(t, s.ok(append(restore, "--yes", "-m", "bring back")...), "till: 1 change applied; revision 5\n")
	wantText(t, s.ok("log", "-n", "till"), "restore to 2", "bring back")
	wantText(t, s.ok(append(restore, "--yes")...), "nothing to do\n")
	wantText(t, s.changes("restore", "till@1", "--keep-new", "--dry-run"), "0 to create, 1 to update, 0 to delete")
	wantText(t, s.ok("restore", "till@1", "--yes"), "1 to update, 1 to delete", "  delete flag cash\n", "revision 6")
	wantText(t, s.ok("compare", "till@1", "till"), "flags: 1 equal\nsegments: 0 equal\n")

	s.fails(cli.ExitUsage, []string{"restore"}, "specify the state, such as")
	s.fails(cli.ExitUsage, []string{"restore", "till", "--yes"}, `specify a revision or a time of namespace "till", such as till@412`)
	s.fails(cli.ExitUsage, []string{"restore", "till@1", "--flag", "card", "--keep-new"}, "--keep-new is for a whole namespace")
	s.fails(cli.ExitFailure, []string{"restore", "till@1", "--flag", "cash"}, `flag "cash" not found in namespace "till@1"`)
	s.fails(cli.ExitFailure, []string{"restore", "till@99"}, `namespace "till" has no revision 99 yet`)
}

func TestUndo(t *testing.T) {
	s := history(t)
	wantText(t, s.changes("undo", "-n", "till", "--dry-run"), `    name "It's plastic" → "Plastic"`, `    metadata "owner" removed`)

	r := s.fails(cli.ExitFailure, []string{"undo", "2..3", "-n", "till"}, "nothing was changed: 1 part has changed again since; decide what counts with --resolve")
	want := `till: 0 to create, 1 to update, 0 to delete, 0 unchanged
  update flag card
    default value on → off
  conflict in flag card: name
    earlier:    "Card"
    changed to: "Plastic"
    current:    "It's plastic"
    resolve with --resolve flag/card:name=current or --resolve flag/card:name=earlier
  warning: flag "card" goes off by default
`
	if r.out != want {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
	wantText(t, s.ok("undo", "2..3", "-n", "till", "--resolve", "flag/card:name=current", "--yes"), "revision 5")
	wantText(t, s.ok("log", "-n", "till"), "undo of 2 to 3")
	s.fails(cli.ExitFailure, []string{"undo", "-n", "till", "--yes"}, "The newest revision, 5, is itself an undo of 2 to 3", "run again with --redo")
	wantText(t, s.changes("undo", "-n", "till", "--dry-run"), "default value off → on")
	wantText(t, s.ok("undo", "-n", "till", "--redo", "--yes"), "default value off → on", "revision 6")
	s.ok("flag", "create", "later", "-n", "till")
	s.fails(cli.ExitFailure, []string{"undo", "-n", "till", "--redo", "--yes"}, "the newest revision, 7, is not an undo")
	s.fails(cli.ExitUsage, []string{"undo", "2", "-n", "till", "--redo"}, "--redo is about the newest revision")
	wantText(t, s.ok("undo", "2..3", "-n", "till", "--resolve", "earlier", "--yes"), `name "It's plastic" → "Card"`)
	if out := s.ok("export", "--namespaces", "till"); !strings.Contains(out, "owner: a=b") || strings.Contains(out, "plastic") {
		t.Errorf("got\n%s", out)
	}
	wantText(t, s.ok("undo", "2", "-n", "till", "--flag", "cash", "--yes"), "nothing to do")

	for _, argument := range []string{"0", "x", "3..2", "1.."} {
		s.fails(cli.ExitUsage, []string{"undo", argument, "-n", "till"}, "invalid revision")
	}
	s.fails(cli.ExitFailure, []string{"undo", "99", "-n", "till"}, "no revision 99 yet")
	s.fails(cli.ExitUsage, []string{"undo", "1", "2"}, "specify one revision")
	s.fails(cli.ExitFailure, []string{"undo", "-n", "nowhere"}, `namespace "nowhere"`)
	for _, choice := range []string{"", "mine", "flag/card", "flag:name=current", "flag/card:name", "flag/card:=current", "flag/card:name=mine"} {
		s.fails(cli.ExitUsage, []string{"undo", "2", "-n", "till", "--resolve", choice}, "invalid --resolve")
	}
	s.fails(cli.ExitUsage, []string{"undo", "2", "-n", "till", "--resolve", "current", "--resolve", "earlier"}, "both current and earlier")
	s.fails(cli.ExitFailure, []string{"undo", "2", "-n", "till", "--resolve", "flag/card:name=current"}, "there is no such conflict")
}
