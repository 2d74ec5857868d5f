package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// follower is a command that prints lines until it is interrupted.
type follower struct {
	t        *testing.T
	lines    *bufio.Scanner
	output   *io.PipeReader
	problems bytes.Buffer
	cancel   context.CancelFunc
	exited   chan int
}

// follow starts a command.
func (s *shell) follow(args ...string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	output, out := io.Pipe()
	f := &follower{t: s.t, lines: bufio.NewScanner(output), output: output, cancel: cancel, exited: make(chan int, 1)}
	go func() {
		code := run(ctx, args, s.environ, strings.NewReader(""), out, &f.problems)
		_ = out.Close()
		f.exited <- code
	}()
	return f
}

// next returns the next line, for which it waits.
func (f *follower) next() string {
	f.t.Helper()
	if !f.lines.Scan() {
		f.t.Fatalf("the output ended: %s", f.problems.String())
	}
	return f.lines.Text()
}

// interrupt ends the command, which must do so without another error.
func (f *follower) interrupt() {
	f.t.Helper()
	f.cancel()
	go func() { _, _ = io.Copy(io.Discard, f.output) }()
	if code := <-f.exited; code != cli.ExitInterrupted || f.problems.String() != "guidon: interrupted\n" {
		f.t.Errorf("got exit code %d and %q, want 130", code, f.problems.String())
	}
}
