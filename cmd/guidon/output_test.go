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

	// The error contains the id of the token that was not shown, so that it can be deleted.
	code, said := run("token", "create", "lost")
	if code != cli.ExitFailure || !regexp.MustCompile(`token [0-9a-f-]{36} was created but cannot be shown`).MatchString(said) {
		t.Errorf("token create: got exit code %d and %q", code, said)
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
		{[]string{"export", "-o", missing}, "guidon: cannot write " + missing + ": no such file or directory\n"},
	} {
		if got := s.run(r.args...); got.code != cli.ExitFailure || got.err != r.want {
			t.Errorf("%v: got exit code %d and %q, want %d and %q", r.args, got.code, got.err, cli.ExitFailure, r.want)
		}
	}
}

// TestFormatCompletion: shell completion offers the values of --format and --input-format.
func TestFormatCompletion(t *testing.T) {
	s := newShell(t)
	for command, want := range map[string]string{
		"import --input-format": "yaml\njson\n", "export --format": "yaml\njson\n", "validate --format": "text\njson\ngithub\n",
	} {
		words := strings.Fields(command)
		if got := s.ok("__complete", words[0], words[1], ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}
