package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// errUnedited is returned by revise if the user leaves the text as it is.
var errUnedited = errors.New("nothing was changed: the text was not edited")

// revise lets the user edit the text, whose name has the extension of its syntax, until use
// accepts the result. It prints the errors of use, and at a terminal offers to edit again. If
// the user gives up, the edited text is kept in a file that the error names.
func (p *program) revise(ctx context.Context, name string, text []byte, use func(edited []byte) error) error {
	e := p.editor()
	for edited := text; ; {
		next, err := e.Edit(ctx, name, edited)
		if err != nil {
			return errors.Join(err, keepEdited(name, edited, text))
		}
		if edited = next; bytes.Equal(edited, text) {
			return errUnedited
		}
		problem := use(edited)
		if problem == nil {
			return nil
		}
		again := false
		if e.Terminal && ctx.Err() == nil {
			fmt.Fprintln(p.err, problem)
			again, err = p.askAgain()
			problem = errors.New("nothing was changed: the edited text was not accepted")
		}
		if !again || err != nil {
			return errors.Join(problem, err, keepEdited(name, edited, text))
		}
	}
}

func (p *program) editor() *machine.Editor {
	e := &machine.Editor{Environ: p.environ, Out: p.err, Err: p.err, Terminal: p.terminal(p.in) && p.terminal(p.err)}
	if p.terminal(p.stdout) {
		e.Out = p.stdout
	}
	if in, ok := p.in.(*os.File); ok { // of another reader, the editor would get everything at once
		e.In = in
	}
	return e
}

// keepEdited keeps the edited text and returns an error that says where, or nil if it does
// not differ from the original one.
func keepEdited(name string, edited, original []byte) error {
	if bytes.Equal(edited, original) {
		return nil
	}
	path, err := machine.KeepText(name, edited)
	if err != nil {
		return err
	}
	return fmt.Errorf("the edited text is in %s", path)
}

// askAgain asks whether to edit again. An empty answer is yes.
func (p *program) askAgain() (bool, error) {
	fmt.Fprint(p.err, "Edit again? [Y/n] ")
	answer, err := bufio.NewReader(io.LimitReader(p.input, 100)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "" || strings.HasPrefix(answer, "y")), err
}
