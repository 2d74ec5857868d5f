package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// buildDir is the directory of the programs that the tests build. It exists during run.
var buildDir string

// Run runs the tests of a package, stops the database servers that they shared, and
// returns the exit code.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "guidon-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	// The driver would log each failed attempt while a server is starting.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := endDatabases(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "guidon")
	build := exec.Command("go", "build", "-o", path, "github.com/guidonhq/guidon/cmd/guidon")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building guidon: %w\n%s", err, out)
	}
	return path, nil
})

// Program returns the path of the guidon program. It is built for the first test that
// needs it.
func Program(t testing.TB) string {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Patience limits every wait of these tests. It is reached only if something is broken.
const Patience = 60 * time.Second

// Slack is what a busy machine may add to a time limit.
const Slack = 2 * time.Second

// Server is a running `guidon server`.
type Server struct {
	URL  string // of the HTTP API
	GRPC string // of the gRPC API

	cmd  *exec.Cmd
	done chan error // receives the result of Wait

	ready chan struct{} // closed when it serves

	Output Buffer // what it has logged so far
}

// Start runs `guidon server` on the database, with additional settings in the environment,
// and waits until it serves. It is killed at the end of the test.
func Start(t testing.TB, database string, env ...string) *Server {
	t.Helper()
	s := Launch(t, database, env...)
	s.Serving(t)
	return s
}

func (s *Server) Serving(t testing.TB) {
	t.Helper()
	select {
	case err := <-s.done:
		t.Fatalf("the server ended before it served: %v\n%s", err, s.Log())
	case <-time.After(Patience):
		t.Fatalf("the server does not serve\n%s", s.Log())
	case <-s.ready:
	}
}

// Launch starts the process without waiting for it to serve.
func Launch(t testing.TB, database string, env ...string) *Server {
	t.Helper()
	s := &Server{cmd: exec.Command(Program(t), "server"), done: make(chan error, 1), ready: make(chan struct{})}
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"GUIDON_DB_URL=" + database,
		"GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_HTTP_PORT=0", "GUIDON_SERVER_GRPC_PORT=0",
		"GUIDON_LOG_ENCODING=json", "GUIDON_METRICS_PUBLIC=true",
	}, env...)
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout = s.cmd.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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

// Log returns what the server has logged so far.
func (s *Server) Log() string { return s.Output.String() }

// Signal sends a signal to the process.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
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

// Answer is the response to an HTTP request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Client keeps enough idle connections for the concurrent callers of a test.
var Client = &http.Client{Timeout: Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

// Call sends a request, with a JSON body if body is not nil. A header has the form
// "Name: value". It returns an error if there was no complete response.
func (s *Server) Call(ctx context.Context, method, path string, body any, headers ...string) (Answer, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		return Answer{}, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	response, err := Client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Must is call for requests that must succeed. If result is not nil, the body is decoded
// into it.
func (s *Server) Must(t testing.TB, method, path string, body, result any, headers ...string) Answer {
	t.Helper()
	a, err := s.Call(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, path, a.Status, a.Body)
	}
	if result != nil {
		if err := json.Unmarshal(a.Body, result); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
		}
	}
	return a
}
