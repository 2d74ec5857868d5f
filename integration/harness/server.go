package harness

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Server is a running `guidon server`. One with only a URL can be called, wherever it runs;
// its other methods need a process of [Start] or [Launch].
type Server struct {
	URL  string // of the HTTP API
	GRPC string // of the gRPC API, with its scheme

	Output Buffer // log and other output so far

	cmd   *exec.Cmd
	ready chan struct{} // closed when it serves
	done  chan error    // receives the result of Wait
}

// Start runs `guidon server` on the database, with additional settings in the environment,
// and waits until it serves. It is killed at the end of the test.
func Start(t testing.TB, database string, env ...string) *Server {
	t.Helper()
	s := Launch(t, database, env...)
	s.AwaitServing(t)
	return s
}

// AwaitServing waits until the server serves. Its addresses are known then.
func (s *Server) AwaitServing(t testing.TB) {
	t.Helper()
	select {
	case err := <-s.done:
		t.Fatalf("the server ended before it served: %v\n%s", err, s.Log())
	case <-time.After(Patience):
		t.Fatalf("the server does not serve\n%s", s.Log())
	case <-s.ready:
	}
}

// Launch is Start without waiting until the server serves; see AwaitServing.
func Launch(t testing.TB, database string, env ...string) *Server {
	t.Helper()
	command := exec.Command(Program(t), "server") // #nosec G204 -- our own
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"GUIDON_DB_URL=" + database,
		"GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_HTTP_PORT=0", "GUIDON_SERVER_GRPC_PORT=0",
		"GUIDON_LOG_ENCODING=json", "GUIDON_METRICS_PUBLIC=true",
	}, env...)
	return LaunchCommand(t, command)
}

// LaunchCommand starts a command that becomes a server with a JSON log. It is killed at the end
// of the test.
func LaunchCommand(t testing.TB, command *exec.Cmd) *Server {
	t.Helper()
	s := &Server{cmd: command, done: make(chan error, 1), ready: make(chan struct{})}
	pipe, err := s.cmd.StderrPipe()
	mustSucceed(t, err)
	s.cmd.Stdout = s.cmd.Stderr
	mustSucceed(t, s.cmd.Start())
	go s.follow(pipe)
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.Log())
		}
	})
	return s
}

// follow collects the log, finds the addresses in it and, at its end, reaps the process.
func (s *Server) follow(pipe io.Reader) {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		fmt.Fprintf(&s.Output, "%s\n", lines.Bytes())
		var event struct{ M, Msg, HTTP, GRPC string } // some tests rename M
		if json.Unmarshal(lines.Bytes(), &event) == nil && cmp.Or(event.M, event.Msg) == "serving" {
			s.URL, s.GRPC = event.HTTP, event.GRPC
			close(s.ready)
		}
	}
	s.done <- s.cmd.Wait()
}

// Log returns the output so far.
func (s *Server) Log() string { return s.Output.String() }

// Signal sends a signal to the process.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	mustSucceed(t, s.cmd.Process.Signal(signal))
}

// Kill kills the process. It does nothing if the process has ended.
func (s *Server) Kill() { _ = s.cmd.Process.Kill() }

// PID returns the id of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Done returns a channel that receives the result of the process, once, when it has ended.
func (s *Server) Done() <-chan error { return s.done }

// Wait waits for the end of the process and returns its exit code, or -1 if a signal ended
// it.
func (s *Server) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-s.done:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(Patience):
		t.Fatalf("the server does not end\n%s", s.Log())
		return 0
	}
}

// Patience limits every wait of the tests. It is reached only if something is broken.
const Patience = 60 * time.Second

// Slack is added to the time limits that tests check, for busy machines.
const Slack = 2 * time.Second
