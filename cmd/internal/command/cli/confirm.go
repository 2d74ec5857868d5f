package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Confirm returns nil if yes is set. Otherwise it prints what is about to happen and
// returns nil if the user confirms it at a terminal.
func (p *Program) Confirm(what string, yes bool) error {
	if yes {
		return nil
	}
	fmt.Fprint(p.Err, what)
	return p.Ask("--yes")
}

// Ask returns nil if the user confirms at a terminal what was printed. Without a terminal, the
// error names the flag that confirms it.
func (p *Program) Ask(flag string) error {
	if !p.Terminal(p.In) || !p.Terminal(p.Err) {
		return fmt.Errorf("nothing was changed: cannot ask for confirmation without a terminal; run again with %s to proceed", flag)
	}
	fmt.Fprint(p.Err, "Proceed? Type yes: ")
	answer, err := bufio.NewReader(io.LimitReader(p.Input, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(strings.ToLower(answer)) != "yes" {
		return errors.New("nothing was changed: not confirmed")
	}
	return nil
}
