// Package cli has what all commands share: the program, connections, tables and other output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/store"
)

// Exit codes; see [ExitCodes].
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitFindings    = 3 // the command completed, and found problems or differences
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Program holds what all commands share.
type Program struct {
	Environ    []string
	In         io.Reader // the standard input itself
	Input      io.Reader // the standard input, interruptible
	Out, Err   io.Writer
	Stdout     io.Writer             // the standard output itself, for the log
	Terminal   func(stream any) bool // reports whether a stream is a terminal
	Height     func() int            // how many lines the terminal of the standard output has
	Now        func() time.Time
	LoginWait  time.Duration // how long the user has to sign in
	working    bool          // a command is running: errors are no longer usage errors
	ConfigFile string
	AWS        secrets.AWS
	Trace      store.Trace // of databases; nil except in a server that traces

	protected       string // the protected context that the command works in, or ""
	confirmed       bool   // the user has confirmed what the command does
	Unauthenticated string // the hint if the credentials are rejected; "" for that about tokens
}

// NewProgram returns a program with the environment and the standard streams.
func NewProgram(environ []string, in io.Reader, out, err io.Writer) *Program {
	p := &Program{Environ: environ, In: in, Out: out, Err: err, Terminal: isTerminal, Now: time.Now, LoginWait: 10 * time.Minute}
	p.Height = p.height
	p.AWS.Load = func(ctx context.Context) (aws.Config, error) { return awsconfig.LoadDefaultConfig(ctx) }
	return p
}

// Run runs the command in args, of the tree that commands returns, until it completes or ctx
// ends, and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string, commands func(p *Program) *cobra.Command) int {
	out := &checkedOutput{Writer: p.Out}
	p.Stdout, p.Out = p.Out, out
	root := commands(p)
	p.Input = &interruptible{ctx: ctx, reader: p.In}
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := plainUsage(root.ExecuteContext(ctx))
	if err == nil && out.failed != nil {
		err = &ExitError{Code: ExitFailure, Err: lostOutput(out.failed)}
	}
	return p.exitCode(ctx, err)
}

// lostOutput returns the error of a command that has done its work, but cannot say so.
func lostOutput(err error) error {
	return fmt.Errorf("the command succeeded, but cannot write its output: %w", err)
}

// ExitError is an error with its own exit code.
type ExitError struct {
	Code int
	Err  error // nil: nothing to print
}

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprint(e.Err) }

// Unwrap returns the error that the exit code is for, or nil.
func (e *ExitError) Unwrap() error { return e.Err }

// ErrFindings is returned by a command that completed and found problems or differences.
var ErrFindings = &ExitError{Code: ExitFindings}

// UsageError returns an error with the exit code for incorrect usage.
func UsageError(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// exitCode prints the error and returns its exit code.
func (p *Program) exitCode(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitFailure
	explicit, ok := errors.AsType[*ExitError](err)
	switch {
	case ok && explicit.Err == nil:
		return explicit.Code
	case ok:
		code = explicit.Code
	case !p.working:
		code = ExitUsage
	case ctx.Err() != nil:
		text := "interrupted"
		if errors.Is(err, client.ErrUnanswered) {
			text += "; " + client.ErrUnanswered.Error()
		}
		if kept, ok := errors.AsType[*KeptError](err); ok {
			text += "; " + kept.Error()
		}
		fmt.Fprintln(p.Err, "guidon: "+text)
		return ExitInterrupted
	}
	fmt.Fprintf(p.Err, "guidon: %s\n", p.message(err))
	if code == ExitUsage {
		fmt.Fprintln(p.Err, "Run the command with --help for usage.")
	}
	return code
}

// message returns the text of the error, with a hint if there is one.
func (p *Program) message(err error) string {
	text := strings.TrimSpace(err.Error())
	switch {
	case errors.Is(err, guidon.Unauthenticated) && p.Unauthenticated != "":
		text += "\n" + p.Unauthenticated
	case errors.Is(err, guidon.Unauthenticated):
		text += "\nProvide a token that permits this operation with GUIDON_TOKEN, --token-file or --token."
	case errors.Is(err, guidon.PermissionDenied) && strings.Contains(text, "read-only"):
		text += "\nNo token permits changes; \"guidon status\" shows which server this is."
	case errors.Is(err, guidon.PermissionDenied):
		text += "\nThe token is valid but does not permit this operation; use another one."
	}
	return text
}

// Action returns a RunE function that runs fn.
func (p *Program) Action(fn func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		p.working = true
		if err := NotEmpty(command, "db", "config"); err != nil {
			return err
		}
		if err := p.setDefaults(command); err != nil {
			return err
		}
		return fn(command.Context(), args)
	}
}

// isTerminal reports whether the stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) // #nosec G115 -- a file descriptor
}

// checkedOutput is the standard output. It records the first failed write, so that a command
// whose output was lost does not succeed. It is not safe for concurrent use.
type checkedOutput struct {
	io.Writer
	failed error
}

// Write implements io.Writer.
func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// PlainReason removes the path from a file system error. The caller adds the path as
// it was given on the command line.
func PlainReason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return errors.Unwrap(e)
	}
	return err
}

// commandMemory is the soft memory limit, in bytes, of commands that process documents.
const commandMemory = 500 << 20

// LimitMemory sets the memory limit of the Go runtime to commandMemory, unless
// GOMEMLIMIT is set.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commandMemory)
	}
}
