package machine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// script writes a program that edits the file in its last argument, and returns an Editor
// that has chosen it.
func editorScript(t *testing.T, body string) (*machine.Editor, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "my editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nfor file; do :; done\n"+body), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return &machine.Editor{
		Environ: append(os.Environ(), "VISUAL=", "EDITOR='"+path+"' --wait", "GUIDON_TOKEN=secret"),
		In:      strings.NewReader("typed"), Out: &bytes.Buffer{}, Err: &bytes.Buffer{},
	}, dir
}

// left returns the edited files that were not removed.
func leftFiles(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "guidon-edit-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestEdit(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"unchanged", ``, "before\n"},
		{"changed", `echo after >"$file"`, "after\n"},
		{"replaced", `echo after >"$file.new"; mv "$file.new" "$file"`, "after\n"},
		{"arguments", `echo "$1" >"$file"`, "--wait\n"},
		{"input", `cat >"$file"`, "typed"},
		{"name", `basename "$file" >"$file"`, "guidon-.._my_flag.yaml\n"},
		{"mode", `stat -c %a "$file" >"$file.mode"; mv "$file.mode" "$file"`, "600\n"},
		{"secrets", `echo "token=$GUIDON_TOKEN" >"$file"`, "token=\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, dir := editorScript(t, test.script)
			got, err := e.Edit(t.Context(), "../my flag.yaml", []byte("before\n"))
			if err != nil || string(got) != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if rest := leftFiles(t, dir); len(rest) > 0 {
				t.Errorf("these files are left: %q", rest)
			}
		})
	}
}

// TestEditFailure: what the user typed is kept if the editor fails, and nothing else is.
func TestEditFailure(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
		left               int
	}{
		{"unchanged", `exit 1`, "the editor failed: exit status 1", 0},
		{"changed", `echo after >"$file"; exit 1`, "the edited text is in ", 1},
		{"recovery", `echo after >"$(dirname "$file")/swap"; exit 1`, "the editor left files in ", 1},
		{"removed", `rm "$file"`, "cannot read the edited file", 0},
		{"too long", `head -c 20000000 /dev/zero >"$file"`, "must not be longer than 16 MiB; the edited text is in ", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, dir := editorScript(t, test.script)
			got, err := e.Edit(t.Context(), "a.yaml", []byte("before\n"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, %v, want an error with %q", got, err, test.want)
			}
			if rest := leftFiles(t, dir); len(rest) != test.left {
				t.Errorf("these files are left: %q, want %d", rest, test.left)
			}
		})
	}
}

// TestEditEnd: an editor is ended with the context.
func TestEditEnd(t *testing.T) {
	e, dir := editorScript(t, `trap 'echo after >"$file"; exit 1' TERM; echo started; while :; do sleep 0.01; done`)
	ctx, cancel := context.WithCancel(t.Context())
	e.Out = writerFunc(func(p []byte) (int, error) {
		if !machine.TerminalTaken() {
			t.Error("Running: got false while an editor runs")
		}
		cancel()
		return len(p), nil
	})
	_, err := e.Edit(ctx, "a.yaml", []byte("before\n"))
	if err == nil || !strings.Contains(err.Error(), "the edited text is in ") || len(leftFiles(t, dir)) != 1 {
		t.Errorf("got error %v and files %q, want the edited text", err, leftFiles(t, dir))
	}
	if machine.TerminalTaken() {
		t.Error("Running: got true after the editor")
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestNoEditor(t *testing.T) {
	for _, test := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"no terminal", false, "cannot start an editor without a terminal; set VISUAL or EDITOR"},
		{"none installed", true, "no editor found; set VISUAL or EDITOR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			e := &machine.Editor{Terminal: test.terminal}
			if _, err := e.Edit(t.Context(), "a.yaml", nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	_, dir := editorScript(t, "")
	path, err := machine.KeepText("a.yaml", []byte("text"))
	if err != nil || !strings.HasPrefix(path, dir) || !strings.HasSuffix(path, "a.yaml") {
		t.Fatalf("got %q, %v", path, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("got %q, %v, want the text", text, err)
	}
}
