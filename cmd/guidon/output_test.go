package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// fullDisk is a standard output that fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestLostOutput: a command that cannot write its output does not report success.
func TestLostOutput(t *testing.T) {
	s := newShell(t)
	s.ok("import", shop)
	run := func(args ...string) (int, string) {
		t.Helper()
		var said bytes.Buffer
		p := cli.NewProgram(s.environ, strings.NewReader(""), fullDisk{}, &said)
		return p.Run(t.Context(), args, root), said.String()
	}
	for _, args := range [][]string{
		{"version"}, {"config", "check"}, {"config", "init", "-"}, {"export"}, {"evaluate", "wishlist"},
		{"token", "list"}, {"binding", "list"}, {"sign-in", "rotate-keys"}, {"migrate", "status"}, {"reader", "list"}, {"cleanup"}, {"validate", shop}, {"import", shop, "--update"},
	} {
		if code, said := run(args...); code != cli.ExitFailure || !strings.Contains(said, "no space left") {
			t.Errorf("%v: got exit code %d and %q, want %d and the reason", args, code, said, cli.ExitFailure)
		}
	}

	// Who cannot read what a change did must not take it for one that failed.
	code, said := run("flag", "off", "wishlist")
	if want := "guidon: the command succeeded, but cannot write its output: no space left\n"; code != cli.ExitFailure || !strings.HasSuffix(said, want) {
		t.Errorf("flag off: got exit code %d and %q, want %d and %q", code, said, cli.ExitFailure, want)
	}

	// The error contains the id of the token that was not shown, so that it can be deleted.
	code, said = run("token", "create", "lost")
	if code != cli.ExitFailure || !regexp.MustCompile(`token [0-9a-f-]{36} was created but cannot be shown`).MatchString(said) {
		t.Errorf("token create: got exit code %d and %q", code, said)
	}
}

// TestScreen: at a terminal, times are relative, states have colors, and columns are aligned
// whatever the widths of characters. Elsewhere programs read the output.
func TestScreen(t *testing.T) {
	s := newShell(t, "NO_COLOR=1")
	s.ok("flag", "create", "search", "--name", "検索", "--enabled")
	s.ok("flag", "create", "menu", "--name", "Menu 🎉")
	screen := s.onScreen(24)
	want := "" +
		"KEY     NAME     TYPE     STATE  RULES  OWNER  CHANGED\n" +
		"menu    Menu 🎉  boolean  off    0      -      now\n" +
		"search  検索     boolean  on     0      -      now\n"
	if got := screen.ok("flag", "list"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.ok("flag", "list"); !regexp.MustCompile(`(?m)on +0 +- +\d{4}-\d\d-\d\dT[\d:]{8}Z$`).MatchString(got) {
		t.Errorf("without a terminal: got\n%s", got)
	}
	if got, want := screen.with("NO_COLOR=").ok("flag", "get", "search"), "\x1b[32mon\x1b[0m"; !strings.Contains(got, want) {
		t.Errorf("with colors: got %q, want %q in it", got, want)
	}
}

// TestPager: what does not fit on the screen is shown in a pager, which may end early.
func TestPager(t *testing.T) {
	s := newShell(t, "NO_COLOR=1", "TERM=xterm")
	s.ok("import", shop)
	list := s.ok("flag", "list", "-o", "name")
	lines := strings.Count(list, "\n") + 1 // with the header
	for _, test := range []struct {
		pager  string
		height int
		want   string // the first line
	}{
		{"sed s/^/paged:/", lines, "paged:KEY"}, {"sed s/^/paged:/", lines + 1, "KEY"}, {"cat", 1, "KEY"}, {"no-such-pager", 1, "KEY"}, {"head -n 1", 1, "KEY"},
	} {
		got := s.with("PAGER="+test.pager).onScreen(test.height).ok("flag", "list")
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s on %d lines: got %q, want %q first", test.pager, test.height, got, test.want)
		}
	}
	s.with("PAGER=false").onScreen(1).fails(cli.ExitFailure, []string{"flag", "list"}, "the pager failed: exit status 1; PAGER sets which one is used")
	if got := s.with("PAGER=sed s/^/paged:/", "TERM=dumb").onScreen(1).ok("flag", "list"); !strings.HasPrefix(got, "KEY") {
		t.Errorf("at a dumb terminal: got %q", got)
	}
}

// TestFileErrors: the message contains the path from the command line, once, and never
// that of the temporary file.
func TestFileErrors(t *testing.T) {
	s := newShell(t)
	s.ok("import", shop)
	missing := filepath.Join(t.TempDir(), "none", "flags.yaml")
	for _, r := range []struct {
		args []string
		want string
	}{
		{[]string{"import", missing}, "guidon: " + missing + ": no such file or directory\n"},
		{[]string{"export", "--out", missing}, "guidon: cannot write " + missing + ": no such file or directory\n"},
	} {
		if got := s.run(r.args...); got.code != cli.ExitFailure || got.err != r.want {
			t.Errorf("%v: got exit code %d and %q, want %d and %q", r.args, got.code, got.err, cli.ExitFailure, r.want)
		}
	}
}

// TestFormatCompletion: shell completion offers the values of --output and --input-format.
func TestFormatCompletion(t *testing.T) {
	s := newShell(t)
	for command, want := range map[string]string{
		"import --input-format": "yaml\njson\n", "export --output": "yaml\njson\n", "validate --output": "text\njson\ngithub\n",
	} {
		words := strings.Fields(command)
		if got := s.ok("__complete", words[0], words[1], ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}
