// Command guidon runs the feature-flag service and its tools: database migration,
// import and export, tokens, and configuration. See "guidon help".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

func main() {
	ctx, stop := withSignals(context.Background())
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// withSignals returns a context that the first SIGINT or SIGTERM cancels. A second
// one ends the process immediately, in case the shutdown hangs or takes too long. No
// acknowledged write is lost by that. While an editor or a pager has the
// terminal, SIGINT is its own.
func withSignals(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for received := range signals {
			switch {
			case received == syscall.SIGINT && machine.TerminalTaken():
			case ctx.Err() == nil:
				cancel()
			default:
				fmt.Fprintln(os.Stderr, "guidon: terminated by a second signal")
				if received == syscall.SIGTERM {
					os.Exit(cli.ExitTerminated)
				}
				os.Exit(cli.ExitInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
