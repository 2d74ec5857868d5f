package machine

import (
	"cmp"
	"io"
	"os/exec"
	"strings"
)

// Pager returns the command of the user's pager: PAGER, which may have arguments, or else less. It
// returns nil if that is not installed, if it is cat, or if the terminal is dumb.
func Pager(environ []string) *exec.Cmd {
	chosen := cmp.Or(strings.TrimSpace(Variable(environ, "PAGER")), "less")
	words := strings.Fields(chosen)
	if terminal := Variable(environ, "TERM"); terminal == "" || terminal == "dumb" || words[0] == "cat" {
		return nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	cmd := exec.Command(path, words[1:]...) // #nosec G204 -- the user's own choice
	cmd.Env = EnvironForOthers(environ)
	if Variable(environ, "LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // colors, and the text stays on the screen
	}
	return cmd
}

// ShowIn shows the text in the pager, and waits until the user ends it.
func ShowIn(pager *exec.Cmd, text io.Reader, out, errs io.Writer) error {
	pager.Stdin, pager.Stdout, pager.Stderr = text, out, errs
	return runAtTerminal(pager)
}
