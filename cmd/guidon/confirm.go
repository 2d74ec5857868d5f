package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirm returns nil if yes is set. Otherwise it prints what is about to happen and
// returns nil if the user confirms it at a terminal.
func (p *program) confirm(what string, yes bool) error {
	if yes {
		return nil
	}
	fmt.Fprint(p.err, what)
	return p.ask("--yes")
}

// ask returns nil if the user confirms at a terminal what was printed. Without a terminal, the
// error names the flag that confirms it.
func (p *program) ask(flag string) error {
	if !p.terminal(p.in) || !p.terminal(p.err) {
		return fmt.Errorf("nothing was changed: cannot ask for confirmation without a terminal; run again with %s to proceed", flag)
	}
	fmt.Fprint(p.err, "Proceed? Type yes: ")
	answer, err := bufio.NewReader(io.LimitReader(p.input, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(strings.ToLower(answer)) != "yes" {
		return errors.New("nothing was changed: not confirmed")
	}
	return nil
}
