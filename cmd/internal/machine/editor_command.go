package machine

import (
	"errors"
	"os/exec"
	"strings"
)

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
