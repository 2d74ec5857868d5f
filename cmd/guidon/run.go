package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
)

// Exit codes, documented in exitCodeHelp.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitDifferent   = 2 // of commands whose usage errors are failures; see usageFails
	exitFindings    = 3
	exitInterrupted = 130
	exitTerminated  = 143
)

// program holds what all commands share.
type program struct {
	environ   []string
	in        io.Reader // the standard input itself
	input     io.Reader // the standard input, interruptible
	out, err  io.Writer
	stdout    io.Writer             // the standard output itself, for the log
	terminal  func(stream any) bool // reports whether a stream is a terminal
	now       func() time.Time
	loginWait time.Duration // how long the user has to sign in
	working   bool          // a command is running: errors are no longer usage errors
	config    string
	aws       secrets.AWS

	unauthenticated string // the hint if the credentials are rejected; "" for that about tokens
}

// newProgram returns a program with the environment and the standard streams.
func newProgram(environ []string, in io.Reader, out, err io.Writer) *program {
	p := &program{environ: environ, in: in, out: out, err: err, terminal: isTerminal, now: time.Now, loginWait: 10 * time.Minute}
	p.aws.Load = func(ctx context.Context) (aws.Config, error) { return awsconfig.LoadDefaultConfig(ctx) }
	return p
}

// run runs the command in args, of the tree that commands returns, until it completes or ctx
// ends, and returns the exit code.
func (p *program) run(ctx context.Context, args []string, commands func(p *program) *cobra.Command) int {
	out := &output{Writer: p.out}
	p.stdout, p.out = p.out, out
	root := commands(p)
	p.input = &interruptible{ctx: ctx, reader: p.in}
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	command, err := root.ExecuteContextC(ctx)
	err = plainUsage(err)
	if err == nil && out.failed != nil {
		err = &exitError{code: exitFailure, err: fmt.Errorf("the command succeeded, but cannot write its output: %w", out.failed)}
	}
	code := p.exitCode(ctx, err)
	if code == exitUsage && !errors.Is(err, different) && command.Annotations[usageFails] != "" {
		return exitFailure
	}
	return code
}

// usageFails is the annotation of commands that return different: their usage errors have the
// exit code of failures.
const usageFails = "usage-fails"

// withDifferences makes the command one that may return different.
func withDifferences(command *cobra.Command) {
	command.Annotations = map[string]string{usageFails: "true"}
}

// exitError is an error with its own exit code.
type exitError struct {
	code int
	err  error // nil: nothing to print
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }

func (e *exitError) Unwrap() error { return e.err }

// findings is returned by a command that completed and found problems or differences.
var findings = &exitError{code: exitFindings}

// different is returned by a command that completed and found differences, or changes to make.
var different = &exitError{code: exitDifferent}

// usageError returns an error with the exit code for incorrect usage.
func usageError(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// exitCode prints the error and returns its exit code.
func (p *program) exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitFailure
	explicit, ok := errors.AsType[*exitError](err)
	switch {
	case ok && explicit.err == nil:
		return explicit.code
	case ok:
		code = explicit.code
	case !p.working:
		code = exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(p.err, "guidon: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(p.err, "guidon: %s\n", p.message(err))
	if code == exitUsage {
		fmt.Fprintln(p.err, "Run the command with --help for usage.")
	}
	return code
}

// message returns the text of the error, with a hint if there is one.
func (p *program) message(err error) string {
	text := strings.TrimSpace(err.Error())
	switch {
	case errors.Is(err, guidon.Unauthenticated) && p.unauthenticated != "":
		text += "\n" + p.unauthenticated
	case errors.Is(err, guidon.Unauthenticated):
		text += "\nProvide a token that permits this operation with GUIDON_TOKEN, --token-file or --token."
	case errors.Is(err, guidon.PermissionDenied) && strings.Contains(text, "read-only"):
		text += "\nNo token permits changes; \"guidon status\" shows which server this is."
	case errors.Is(err, guidon.PermissionDenied):
		text += "\nThe token is valid but does not permit this operation; use another one."
	}
	return text
}

// action returns a RunE function that runs fn.
func (p *program) action(fn func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		p.working = true
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
