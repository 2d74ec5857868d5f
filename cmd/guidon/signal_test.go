package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// asProgram makes the test binary run as guidon, asBrowser as a browser that visits the
// address in its first argument.
const (
	asProgram = "TEST_BINARY_IS_GUIDON=1"
	asBrowser = "TEST_BINARY_IS_BROWSER=1"
)

func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		switch variable {
		case asProgram:
			main()
			return
		case asBrowser:
			os.Exit(browse(os.Args[1]))
		}
	}
	os.Exit(m.Run())
}

// browse visits the address and follows redirects.
func browse(address string) int {
	response, err := http.Get(address) // #nosec G107 -- of a test
	if err != nil {
		return 1
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return 0
}

// TestSignals: the first signal stops the server gracefully, a second one immediately.
func TestSignals(t *testing.T) {
	tests := []struct {
		name          string
		delay         string
		first, second os.Signal
		want          int
	}{
		{"one", "0s", syscall.SIGTERM, nil, cli.ExitOK},
		{"interrupted from the keyboard", "0s", os.Interrupt, nil, cli.ExitOK},
		{"a second one", "1h", syscall.SIGTERM, syscall.SIGTERM, cli.ExitTerminated},
		{"a second one from the keyboard", "1h", os.Interrupt, os.Interrupt, cli.ExitInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, asProgram, "GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_HTTP_PORT=0", "GUIDON_SERVER_GRPC_PORT=0",
				"GUIDON_SERVER_SHUTDOWN_DELAY="+tt.delay)
			command := exec.CommandContext(t.Context(), os.Args[0], "server") // #nosec G204 -- this binary
			command.Env = s.environ
			out, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			log := bufio.NewScanner(out)
			await(t, log, `"serving"`)
			signalTo(t, command, tt.first)
			if tt.second != nil {
				await(t, log, `"stopping"`)
				signalTo(t, command, tt.second)
			}
			_, _ = io.Copy(io.Discard, out)
			err = command.Wait()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != tt.want {
				t.Errorf("got exit code %d, want %d", code, tt.want)
			}
		})
	}
}

// await reads the log until a line contains the text.
func await(t *testing.T, log *bufio.Scanner, text string) {
	t.Helper()
	for log.Scan() {
		if strings.Contains(log.Text(), text) {
			return
		}
	}
	t.Fatalf("the log ended before %s (error %v)", text, log.Err())
}

func signalTo(t *testing.T, command *exec.Cmd, signal os.Signal) {
	t.Helper()
	if err := command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}
