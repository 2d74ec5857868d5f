package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// OpenBrowser starts the browser with the URL and does not wait for it. It tries the commands of
// the variable BROWSER or else that of the system. variables are the environment of the
// browser, from which the variables of this program are removed: they may be secrets.
func OpenBrowser(variables []string, url string) error {
	err := errors.New("no command to open a browser is known on this system")
	for _, command := range browserCommands(runtime.GOOS, variables, url) {
		if err = startBrowser(command, variables); err == nil {
			return nil
		}
	}
	return err
}

func startBrowser(command, variables []string) error {
	browser := exec.Command(command[0], command[1:]...) // #nosec G204 -- the user's own choice, or a constant
	browser.Env = EnvironForOthers(variables)
	if err := browser.Start(); err != nil {
		return err
	}
	go func() { _ = browser.Wait() }() // it may run longer than this program
	return nil
}

// browserCommands returns the commands to try, in order.
func browserCommands(system string, variables []string, url string) [][]string {
	if chosen := Variable(variables, "BROWSER"); chosen != "" {
		return chosenBrowsers(chosen, url)
	}
	switch system {
	case "darwin":
		return [][]string{{"open", url}}
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler", url}}
	case "android", "ios", "js", "plan9", "wasip1":
		return nil
	}
	return [][]string{{"xdg-open", url}}
}

// chosenBrowsers returns the commands of the variable BROWSER, a list like that of PATH.
// In each of them %s stands for the URL, which otherwise is the last argument. There is no
// shell, so nothing in the URL has a meaning.
func chosenBrowsers(list, url string) [][]string {
	var all [][]string
	for _, text := range filepath.SplitList(list) {
		command := strings.Fields(text)
		if len(command) == 0 {
			continue
		}
		if !strings.Contains(text, "%s") {
			command = append(command, "%s")
		}
		for i := range command[1:] {
			command[i+1] = strings.ReplaceAll(command[i+1], "%s", url)
		}
		all = append(all, command)
	}
	return all
}

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
	if err := runAtTerminal(pager); err != nil {
		return fmt.Errorf("the pager failed: %w; PAGER sets which one is used", err)
	}
	return nil
}

// Variable returns the value of a variable, or "". The last one wins.
func Variable(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// EnvironForOthers returns the environment for other programs: without the variables of this
// program, which may be secrets.
func EnvironForOthers(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool { return strings.HasPrefix(pair, "GUIDON_") })
}
