package main

import (
	"bytes"
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
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// The first token of the service, of which the floor takes no notice.
const token = "bench-0123456789abcdef0123456789abcdef" // #nosec G101 -- of a server that lives for minutes, on loopback

// patience bounds every wait for a server.
const patience = 30 * time.Second

// contender is a server process.
type contender struct {
	name    string
	address string // of gRPC
	process *exec.Cmd
	conn    *grpc.ClientConn
}

// startGuidon starts the service and fills it.
func startGuidon(ctx context.Context, s settings, dir string) (*contender, error) {
	rest, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c, err := start("guidon", func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		_, restPort, _ := net.SplitHostPort(rest)
		cmd := exec.CommandContext(ctx, s.guidon, "server") // #nosec G204 -- what the caller wants measured
		cmd.Env = []string{
			"HOME=" + dir, "GUIDON_DB_URL=file:" + filepath.Join(dir, "guidon.db"),
			"GUIDON_SERVER_HOST=" + host, "GUIDON_SERVER_HTTP_PORT=" + restPort, "GUIDON_SERVER_GRPC_PORT=" + port,
			"GUIDON_LOG_LEVEL=warn", "GUIDON_LOG_ENCODING=json",
			"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
			"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + token,
		}
		return cmd
	})
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, "http://"+rest, s.flags); err != nil {
		return nil, errors.Join(fmt.Errorf("filling the database: %w", err), c.stop())
	}
	return c, nil
}

func startFloor(ctx context.Context) (*contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start("floor", func(address string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self) // #nosec G204 -- this program
		cmd.Env = append(os.Environ(), floorVariable+"="+address)
		return cmd
	})
}

// start starts a server on a free port and waits until it listens there. What it
// complains about is shown.
func start(name string, command func(address string) *exec.Cmd) (*contender, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &contender{name: name, address: address, process: command(address)}
	c.process.Stderr = os.Stderr
	if c.conn, err = grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(time.Millisecond) {
		if probe, err := net.Dial("tcp", address); err == nil {
			return c, probe.Close()
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not listen", name), c.stop())
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// fill imports the data set over HTTP.
func fill(ctx context.Context, url string, flags int) error {
	body, err := json.Marshal(object{"document": document(flags)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1/namespaces/default/import", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return nil
}

// stop ends the process, which for the floor is nothing but its end.
func (c *contender) stop() error {
	if err := errors.Join(c.conn.Close(), c.process.Process.Signal(syscall.SIGTERM)); err != nil {
		return err
	}
	err := c.process.Wait()
	if _, killed := errors.AsType[*exec.ExitError](err); killed && c.name == "floor" {
		return nil
	}
	return err
}
