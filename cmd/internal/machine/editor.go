package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// maxEditedText limits the size of an edited text.
const maxEditedText = 16 << 20

// editorStopTime is how long an editor has to end when the context ends.
const editorStopTime = 5 * time.Second

// Editor configures how texts are edited.
type Editor struct {
	// Environ has VISUAL and EDITOR, which may have arguments. It is also the environment of
	// the editor, except for variables of this program: they may be secrets.
	Environ []string

	// The streams of the editor.
	In       io.Reader
	Out, Err io.Writer

	// Terminal reports whether In and Out are a terminal. Without one, only an editor that
	// the user has chosen is started.
	Terminal bool
}

var atTerminal atomic.Int32

// TerminalTaken reports whether an editor or a pager is running. It shares the terminal with this
// program, which must then ignore SIGINT: it is meant for the other one.
func TerminalTaken() bool { return atTerminal.Load() > 0 }

// runAtTerminal runs an editor or a pager until it ends.
func runAtTerminal(cmd *exec.Cmd) error {
	atTerminal.Add(1)
	defer atTerminal.Add(-1)
	return cmd.Run()
}

// Edit lets the user edit the text and returns the result, which equals text if nothing was
// changed. It waits until the editor ends. The editor sees a temporary file that only the user
// can read; its name resembles name, whose extension tells editors the syntax.
//
// If the editor fails after it has changed the text, the file is kept and the error names it.
func (e *Editor) Edit(ctx context.Context, name string, text []byte) ([]byte, error) {
	command, err := e.command(runtime.GOOS)
	if err != nil {
		return nil, err
	}
	path, err := writeText(name, text)
	if err != nil {
		return nil, fmt.Errorf("cannot write the file to edit: %w", err)
	}
	failed := e.start(ctx, append(command, path))
	edited, err := readText(path)
	if err = errors.Join(failed, err); err == nil {
		return edited, os.RemoveAll(filepath.Dir(path))
	}
	return nil, salvageText(err, path, edited == nil || bytes.Equal(edited, text))
}

// salvageText returns err with the path of the edited text, unless nothing is left there.
func salvageText(err error, path string, unchanged bool) error {
	if !unchanged {
		return fmt.Errorf("%w; the edited text is in %s", err, path)
	}
	dir := filepath.Dir(path)
	_ = os.Remove(path)
	if os.Remove(dir) != nil { // there are files of the editor, such as those for recovery
		return fmt.Errorf("%w; the editor left files in %s", err, dir)
	}
	return err
}

// KeepText writes an edited text that cannot be used to a temporary file, so that it is not lost,
// and returns the path.
func KeepText(name string, text []byte) (path string, err error) {
	path, err = writeText(name, text)
	if err != nil {
		return "", fmt.Errorf("cannot keep the edited text: %w", err)
	}
	return path, nil
}

// start runs the command until it ends.
func (e *Editor) start(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) // #nosec G204 -- the user's own choice, or a constant
	cmd.Env = EnvironForOthers(e.Environ)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	if runtime.GOOS != "windows" {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it can save what it has
	}
	cmd.WaitDelay = editorStopTime
	if err := runAtTerminal(cmd); err != nil {
		return fmt.Errorf("the editor failed: %w; VISUAL or EDITOR sets which one is used", err)
	}
	return nil
}

// writeText writes the text to a file in a new directory, both only for the user.
func writeText(name string, text []byte) (path string, err error) {
	dir, err := os.MkdirTemp("", "guidon-edit-*")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, textFileName(name))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return path, nil
}

// textFileName returns the name without characters that have a meaning for a file system or a
// shell, limited in length from the left so that its extension stays.
func textFileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	safe = safe[max(0, len(safe)-100):]
	return "guidon-" + safe
}

// readText reads an edited file.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path) // #nosec G304 -- the file that write made
	if err != nil {
		return nil, fmt.Errorf("cannot read the edited file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEditedText+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the edited file: %w", err)
	}
	if len(text) > maxEditedText {
		return text, fmt.Errorf("the edited text must not be longer than %d MiB", maxEditedText>>20)
	}
	return text, nil
}

var errNoEditor = errors.New("no editor found; set VISUAL or EDITOR, such as EDITOR=nano")

// chosen returns the command that the user has chosen, or "".
func (e *Editor) chosen() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := strings.TrimSpace(Variable(e.Environ, name)); command != "" {
			return command
		}
	}
	return ""
}

// command returns the command and arguments that start the editor. The path of the file
// must follow.
func (e *Editor) command(system string) ([]string, error) {
	if chosen := e.chosen(); chosen != "" {
		return chosenEditor(system, chosen)
	}
	if !e.Terminal {
		return nil, errors.New("cannot start an editor without a terminal; set VISUAL or EDITOR to one that needs none")
	}
	for _, name := range usualEditors(system) {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, errNoEditor
}

// chosenEditor returns the command of VISUAL or EDITOR. As for git, the shell interprets
// it, so that it may have quotes and variables. Windows has no such shell: there, words may
// be in double quotes.
func chosenEditor(system, text string) ([]string, error) {
	if system != "windows" {
		script := text + ` "$@"`
		if !strings.ContainsAny(text, "=;&|<>()\n") {
			script = "exec " + script // a simple command, which then gets the signals
		}
		return []string{"/bin/sh", "-c", script, "guidon"}, nil
	}
	if _, err := exec.LookPath(text); err == nil {
		return []string{text}, nil // a path with spaces
	}
	words := quotedWords(text)
	if len(words) == 0 {
		return nil, errNoEditor
	}
	return words, nil
}

// quotedWords splits the text at spaces outside of double quotes.
func quotedWords(text string) []string {
	var words []string
	var word strings.Builder
	begun, quoted := false, false
	for _, r := range text {
		switch {
		case r == '"':
			begun, quoted = true, !quoted
		case (r == ' ' || r == '\t') && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// usualEditors returns the editors to try if the user has chosen none.
func usualEditors(system string) []string {
	if system == "windows" {
		return []string{"notepad.exe"}
	}
	return []string{"editor", "nano", "vi"} // the first is the system's choice on Debian
}
