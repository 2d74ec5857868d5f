package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Confirm returns nil if yes is set. Otherwise it prints what is about to happen and
// returns nil if the user confirms it at a terminal. In a protected context it asks at a
// terminal even so.
func (p *Program) Confirm(what string, yes bool) error {
	if yes && (p.protected == "" || !p.canAsk()) {
		p.confirmed = true
		return nil
	}
	fmt.Fprint(p.Err, what)
	if p.protected != "" {
		fmt.Fprintf(p.Err, "The context %s is protected.\n", p.protected)
	}
	return p.Ask("--yes")
}

// canAsk reports whether the user sees a question and can answer it.
func (p *Program) canAsk() bool { return p.Terminal(p.In) && p.Terminal(p.Err) }

// Ask returns nil if the user confirms at a terminal what was printed. Without a terminal, the
// error names the flag that confirms it.
func (p *Program) Ask(flag string) error {
	if !p.canAsk() {
		return fmt.Errorf("nothing was changed: cannot ask for confirmation without a terminal; run again with %s to proceed", flag)
	}
	fmt.Fprint(p.Err, "Proceed? Type yes: ")
	answer, err := p.answer()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer != "yes" {
		return errors.New("nothing was changed: not confirmed")
	}
	p.confirmed = true
	return nil
}

// maxAnswer limits the length of an answer, in bytes.
const maxAnswer = 100

// answer reads one line and nothing beyond it. It returns the line in lower case without
// surrounding space, and io.EOF if the input ends before the line does.
func (p *Program) answer() (string, error) {
	var line strings.Builder
	for one := make([]byte, 1); line.Len() < maxAnswer; {
		if _, err := io.ReadFull(p.Input, one); err != nil {
			return strings.ToLower(strings.TrimSpace(line.String())), err
		}
		if one[0] == '\n' {
			break
		}
		line.WriteByte(one[0])
	}
	return strings.ToLower(strings.TrimSpace(line.String())), nil
}
