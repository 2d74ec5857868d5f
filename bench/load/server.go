package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// token is the first token of the service. The floor ignores it.
const token = "bench-0123456789abcdef0123456789abcdef" // #nosec G101 -- for a short-lived server on loopback

// patience is the longest wait for a server.
const patience = 30 * time.Second

// server is a process that is measured.
type server struct {
	Name    string
	Address string // of the HTTP listener, or of the floor
	Floor   bool
	process *exec.Cmd
	begin   time.Time
}

// startFloor starts another process of this program, as the floor.
func startFloor(ctx context.Context) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1]) // #nosec G204 -- this program
	cmd.Env = append(os.Environ(), floorVariable+"="+address)
	return start(&server{Name: "floor", Address: address, Floor: true, process: cmd})
}

// startGuidon starts the service with a database file, without an access log. env adds to
// or overrides its configuration.
func startGuidon(ctx context.Context, name, program, database string, env ...string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address)
	cmd := exec.CommandContext(ctx, program, "server") // #nosec G204 -- the program to measure
	cmd.Env = append([]string{
		"HOME=" + filepath.Dir(database), "GUIDON_DB_URL=file:" + database,
		"GUIDON_SERVER_HOST=" + host, "GUIDON_SERVER_HTTP_PORT=" + port, "GUIDON_SERVER_GRPC_PORT=0",
		"GUIDON_LOG_LEVEL=warn", "GUIDON_LOG_ENCODING=json",
		"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + token,
	}, env...)
	return start(&server{Name: name, Address: address, process: cmd})
}

// start starts the process. Its standard output is discarded.
func start(s *server) (*server, error) {
	s.process.Stderr = os.Stderr
	s.begin = time.Now()
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	return s, nil
}

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	port, err := dbtest.FreePort()
	return net.JoinHostPort("127.0.0.1", port), err
}

// Await polls until the server is ready, and returns the time since its start.
func (s *server) Await(ready func() bool) (time.Duration, error) {
	for time.Since(s.begin) < patience {
		if ready() {
			return time.Since(s.begin), nil
		}
		time.Sleep(time.Millisecond)
	}
	return 0, fmt.Errorf("%s does not respond", s.Name)
}

// Load runs the load generator, and returns its output and the CPU time that the server
// used meanwhile.
func (s *server) Load(generator *exec.Cmd) (out []byte, cpu time.Duration, err error) {
	pid := s.process.Process.Pid
	before := dbtest.CPUTime(pid)
	out, err = generator.CombinedOutput()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", filepath.Base(generator.Path), err, out)
	}
	after := dbtest.CPUTime(pid)
	if after < before { // the process no longer exists
		return nil, 0, fmt.Errorf("%s has ended", s.Name)
	}
	return out, after - before, nil
}

// ResidentMiB returns the resident memory of the server.
func (s *server) ResidentMiB() (float64, error) {
	pid := s.process.Process.Pid
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/%d/status has no VmRSS", pid)
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	return kib / 1024, err
}

// Stop ends the process: the service gracefully, the floor by killing it.
func (s *server) Stop() error {
	signal := syscall.SIGTERM
	if s.Floor {
		signal = syscall.SIGKILL
	}
	if err := s.process.Process.Signal(signal); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	err := s.process.Wait()
	if _, killed := errors.AsType[*exec.ExitError](err); err == nil || killed && s.Floor {
		return nil
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// response is an HTTP response.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

var client = &http.Client{Timeout: patience}

// URL returns the base URL of the server.
func (s *server) URL() string { return "http://" + s.Address }

// Call sends an HTTP request. header is an additional header line, or "".
func (s *server) Call(method, path, body, header string) (response, error) {
	r, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "identity") // no compression, as with wrk
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	got, err := client.Do(r)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, text}, err
}

// Post sends a POST request. It returns an error unless the status is 200.
func (s *server) Post(path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := s.Call(http.MethodPost, path, string(text), "")
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("POST %s: %d %s", path, a.Status, a.Body)
	}
	return err
}

// Import imports n flags of the data set into an existing namespace.
func (s *server) Import(namespace string, n int) error {
	return s.Post("/api/v1/namespaces/"+namespace+"/import", object{"document": document(n)})
}
