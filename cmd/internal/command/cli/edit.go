package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// ErrUnedited is returned by revise if the user leaves the text as it is.
var ErrUnedited = errors.New("nothing was changed: the text was not edited")

// KeptError is the error that an edited text was kept in a file.
type KeptError struct{ path string }

// Error implements error.
func (e *KeptError) Error() string { return "the edited text is in " + e.path }

// Revise lets the user edit the text, whose name has the extension of its syntax, until use
// accepts the result. It prints the errors of use, and at a terminal offers to edit again. If
// the user gives up, the edited text is kept in a file that the error names.
func (p *Program) Revise(ctx context.Context, name string, text []byte, use func(edited []byte) error) error {
	e := p.editor()
	for edited := text; ; {
		next, err := e.Edit(ctx, name, edited)
		if err != nil {
			return errors.Join(err, KeepEdited(name, edited, text))
		}
		if edited = next; bytes.Equal(edited, text) {
			return ErrUnedited
		}
		problem := use(edited)
		if problem == nil {
			return nil
		}
		again := false
		if e.Terminal && ctx.Err() == nil {
			fmt.Fprintln(p.Err, problem)
			again, err = p.YesOrNo("Edit again?")
			problem = errors.New("nothing was changed: the edited text was not accepted")
		}
		if !again || err != nil {
			return errors.Join(problem, err, KeepEdited(name, edited, text))
		}
	}
}

func (p *Program) editor() *machine.Editor {
	e := &machine.Editor{Environ: p.Environ, Out: p.Err, Err: p.Err, Terminal: p.Terminal(p.In) && p.Terminal(p.Err)}
	if p.Terminal(p.Stdout) {
		e.Out = p.Stdout
	}
	if in, ok := p.In.(*os.File); ok { // of another reader, the editor would get everything at once
		e.In = in
	}
	return e
}

// KeepEdited keeps the edited text and returns an error that says where, or nil if it does
// not differ from the original one.
func KeepEdited(name string, edited, original []byte) error {
	if bytes.Equal(edited, original) {
		return nil
	}
	path, err := machine.KeepText(name, edited)
	if err != nil {
		return err
	}
	return &KeptError{path}
}

// YesOrNo asks the question at a terminal; without one, the answer is no. An empty answer is yes.
func (p *Program) YesOrNo(question string) (bool, error) {
	if !p.canAsk() {
		return false, nil
	}
	fmt.Fprint(p.Err, question+" [Y/n] ")
	answer, err := p.answer()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil && (answer == "" || strings.HasPrefix(answer, "y")), err
}
