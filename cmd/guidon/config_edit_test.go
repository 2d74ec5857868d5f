package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// editing returns a copy of the shell with an editor that runs the script, in which $1 is
// the file.
func (s *shell) editing(script string) *shell {
	s.t.Helper()
	s.t.Setenv("TMPDIR", s.t.TempDir()) // for the edited files
	path := s.file("editor", "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o700); err != nil { // #nosec G302 -- a program
		s.t.Fatal(err)
	}
	return s.with("EDITOR="+path, "PATH="+os.Getenv("PATH"))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestConfigEdit: the file is made from the template, and replaced with its mode.
func TestConfigEdit(t *testing.T) {
	s := newShell(t)
	path := filepath.Join(strings.TrimPrefix(s.environ[0], "HOME="), "guidon", "config.yml")
	r := s.editing(":").run("config", "edit")
	if _, err := os.Stat(path); r.code != cli.ExitOK || !strings.Contains(r.err, "nothing was changed") || err == nil {
		t.Errorf("unedited: got %+v, and a file: %v", r, err == nil)
	}
	if got, want := s.editing(`echo 'log: {level: debug}' >"$1"`).ok("config", "edit"), "wrote "+path+"; restart the server to use it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.Chmod(path, 0o640); err != nil { // #nosec G302 -- the mode under test
		t.Fatal(err)
	}
	s.editing(`sed -i s/debug/warn/ "$1"`).ok("config", "edit")
	if got, want := read(t, path), "log: {level: warn}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("got mode %v, error %v, want 0640", info.Mode(), err)
	}
	link := filepath.Join(t.TempDir(), "link.yml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s.editing(`sed -i s/warn/error/ "$1"`).ok("config", "edit", "--config", link)
	if got, want := read(t, path), "log: {level: error}\n"; got != want {
		t.Errorf("by a link: got %q, want %q", got, want)
	}
}

// TestConfigEditProblems: an invalid file is not written, and what was typed is kept.
func TestConfigEditProblems(t *testing.T) {
	s := newShell(t)
	path := s.file("guidon.yml", "log: {level: info}\n")
	bad := s.editing(`echo 'log: {level: loud}' >"$1"`)
	kept := regexp.MustCompile(`the edited text is in (\S+)`)
	for name, shell := range map[string]*shell{"no terminal": bad, "given up": bad.typing("n\n"), "end of the input": bad.typing("")} {
		r := shell.fails(cli.ExitFailure, []string{"config", "edit", "--config", path}, path+" line 1", "log.level", "must be one of")
		found := kept.FindStringSubmatch(r.err)
		if found == nil || read(t, found[1]) != "log: {level: loud}\n" {
			t.Errorf("%s: got %q, want the file with the edited text", name, r.err)
		}
		if got := read(t, path); got != "log: {level: info}\n" {
			t.Errorf("%s: the file was changed to %q", name, got)
		}
	}
	again := s.editing(`if grep -q loud "$1"; then sed -i s/loud/warn/ "$1"; else sed -i s/info/loud/ "$1"; fi`)
	again.typing("\n").ok("config", "edit", "--config", path)
	if got := read(t, path); got != "log: {level: warn}\n" {
		t.Errorf("edited again: got %q", got)
	}
	meanwhile := s.editing(`echo 'log: {level: error}' | tee "$1" >'` + path + `'; echo 'log: {level: debug}' >"$1"`)
	meanwhile.fails(cli.ExitFailure, []string{"config", "edit", "--config", path}, "was changed by somebody else", "the edited text is in")
	s.editing(":").fails(cli.ExitFailure, []string{"config", "edit", "--config", t.TempDir()}, "is not a regular file")
}
