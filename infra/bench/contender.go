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
	"strings"
	"syscall"
	"time"
)

// The first token of the service, of which the floor takes no notice.
const token = "bench-0123456789abcdef0123456789abcdef" // #nosec G101 -- of a server that lives for minutes, on loopback

// patience bounds every wait for a server.
const patience = 30 * time.Second

// contender is a server process.
type contender struct {
	name      string
	url       string
	floor     bool
	process   *exec.Cmd
	healthy   time.Duration // from its start until it said so
	evaluated time.Duration // from its start until its first evaluation
}

// startContenders starts the floor, the service without an access log, and the
// service with one. The services have equal databases.
func startContenders(ctx context.Context, s settings, dir string) (started []*contender, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, stopAll(started))
			started = nil
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	quiet, logging := filepath.Join(dir, "quiet.db"), filepath.Join(dir, "logging.db")
	if err := fill(ctx, s, quiet); err != nil {
		return nil, fmt.Errorf("filling the database: %w", err)
	}
	if err := copyFile(logging, quiet); err != nil {
		return nil, err
	}
	for _, start := range []func() (*contender, error){
		func() (*contender, error) { return startFloor(ctx, self) },
		func() (*contender, error) { return startGuidon(ctx, s.guidon, "log off", quiet, "warn") },
		func() (*contender, error) { return startGuidon(ctx, s.guidon, "log on", logging, "info") },
	} {
		c, err := start()
		if err != nil {
			return started, err
		}
		started = append(started, c)
	}
	return started, nil
}

// fill writes the data set into a new database.
func fill(ctx context.Context, s settings, path string) error {
	c, err := startGuidon(ctx, s.guidon, "filler", path, "warn")
	if err != nil {
		return err
	}
	err = errors.Join(
		c.post("/api/v1/namespaces", object{"key": pageSpace, "name": pageSpace}),
		c.post("/api/v1/namespaces/default/import", object{"document": document(s.flags)}),
		c.post("/api/v1/namespaces/"+pageSpace+"/import", object{"document": document(pageFlags)}),
	)
	return errors.Join(err, c.stop())
}

func startFloor(ctx context.Context, self string) (*contender, error) {
	return start("floor", func(address string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self) // #nosec G204 -- this program
		cmd.Env = append(os.Environ(), floorVariable+"="+address)
		return cmd
	})
}

func startGuidon(ctx context.Context, program, name, database, level string) (*contender, error) {
	return start(name, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		cmd := exec.CommandContext(ctx, program, "server") // #nosec G204 -- what the caller wants measured
		cmd.Env = []string{
			"HOME=" + filepath.Dir(database), "GUIDON_DB_URL=file:" + database,
			"GUIDON_SERVER_HOST=" + host, "GUIDON_SERVER_HTTP_PORT=" + port, "GUIDON_SERVER_GRPC_PORT=0",
			"GUIDON_LOG_LEVEL=" + level, "GUIDON_LOG_ENCODING=json", "GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true",
			"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
			"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + token,
		}
		return cmd
	})
}

// start starts a server on a free port and waits until it is healthy. The output
// of the process is dropped, but for what it complains about.
func start(name string, command func(address string) *exec.Cmd) (*contender, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &contender{name: name, url: "http://" + address, floor: name == "floor", process: command(address)}
	c.process.Stderr = os.Stderr
	begin := time.Now()
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	if c.healthy, err = c.await(begin, http.MethodGet, "/health", nil); err == nil && !c.floor {
		body, _ := json.Marshal(entityOf(0).evaluation(booleanKey(0)))
		c.evaluated, err = c.await(begin, http.MethodPost, "/evaluate/v1/boolean", body)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), c.stop())
	}
	return c, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await asks again and again until the server answers, whatever it does, and
// returns how long that took from begin on.
func (c *contender) await(begin time.Time, method, path string, body []byte) (time.Duration, error) {
	for time.Since(begin) < patience {
		if a, err := c.call(method, path, string(body), ""); err == nil && a.status < http.StatusInternalServerError {
			return time.Since(begin), nil
		}
		time.Sleep(time.Millisecond)
	}
	return 0, errors.New("the server does not answer")
}

func (c *contender) pid() int { return c.process.Process.Pid }

// stop ends the process, orderly where it can be.
func (c *contender) stop() error {
	signal := syscall.SIGTERM
	if c.floor {
		signal = syscall.SIGKILL
	}
	if err := c.process.Process.Signal(signal); err != nil {
		return err
	}
	if err := c.process.Wait(); err != nil && !c.floor {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

func stopAll(contenders []*contender) error {
	var problems []error
	for _, c := range contenders {
		problems = append(problems, c.stop())
	}
	return errors.Join(problems...)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var client = &http.Client{Timeout: patience}

func (c *contender) send(r request) (answer, error) {
	return c.call(http.MethodPost, r.path, r.body, r.header)
}

func (c *contender) call(method, path, body, header string) (answer, error) {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "identity") // as wrk, which says nothing
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, text}, err
}

func (c *contender) post(path string, body object) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := c.call(http.MethodPost, path, string(text), "")
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("POST %s: %d %s", path, a.status, a.body)
	}
	return err
}

// answerWith tells the floor what to answer from now on.
func (c *contender) answerWith(status, size int) error {
	_, err := c.call(http.MethodPost, fmt.Sprintf("%s?status=%d&size=%d", floorPath, status, size), "", "")
	return err
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from) // #nosec G304 -- a database of our own
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
