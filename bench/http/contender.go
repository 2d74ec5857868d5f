package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// contender is a server process.
type contender struct {
	*harness.Server
	flags     int           // stored, an even number
	healthy   time.Duration // from the start until it was healthy
	evaluated time.Duration // from the start until its first evaluation
}

// startContenders starts the floor, the service without an access log, and the service
// with one. Both services have the same data.
func startContenders(ctx context.Context, s settings, dir string) (started []*contender, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, stopAll(started))
			started = nil
		}
	}()
	quiet, logging := filepath.Join(dir, "quiet.db"), filepath.Join(dir, "logging.db")
	if err := fill(ctx, s, quiet); err != nil {
		return nil, fmt.Errorf("cannot fill the database: %w", err)
	}
	if err := copyFile(logging, quiet); err != nil {
		return nil, err
	}
	for _, start := range []func() (*harness.Server, error){
		func() (*harness.Server, error) { return harness.StartFloor(ctx) },
		func() (*harness.Server, error) { return startGuidon(ctx, s, "log off", quiet, "warn") },
		func() (*harness.Server, error) { return startGuidon(ctx, s, "log on", logging, "info") },
	} {
		c, err := awaited(start())
		if err != nil {
			return started, err
		}
		c.flags = s.Flags
		started = append(started, c)
	}
	return started, nil
}

// fill writes the data set into a new database.
func fill(ctx context.Context, s settings, path string) error {
	c, err := awaited(startGuidon(ctx, s, "filler", path, "warn"))
	if err != nil {
		return err
	}
	err = errors.Join(
		c.Post("/api/v1/namespaces", object{"key": pageSpace, "name": pageSpace}),
		c.Import("default", s.Flags),
		c.Import(pageSpace, pageFlags),
	)
	return errors.Join(err, c.Stop())
}

func startGuidon(ctx context.Context, s settings, name, database, level string) (*harness.Server, error) {
	return harness.StartGuidon(ctx, name, s.Guidon, database, "GUIDON_LOG_LEVEL="+level, "GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true")
}

// awaited waits until a started server is healthy.
func awaited(server *harness.Server, err error) (*contender, error) {
	if err != nil {
		return nil, err
	}
	c := &contender{Server: server}
	if c.healthy, err = c.await(http.MethodGet, "/health", nil); err == nil && !c.Floor {
		body, _ := json.Marshal(entityOf(0).evaluation(harness.FlagKey(0)))
		c.evaluated, err = c.await(http.MethodPost, "/evaluate/v1/boolean", body)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// await waits until the server responds with a status below 500.
func (c *contender) await(method, path string, body []byte) (time.Duration, error) {
	return c.Await(func() bool {
		a, err := c.Call(method, path, string(body), "")
		return err == nil && a.Status < http.StatusInternalServerError
	})
}

func stopAll(contenders []*contender) error {
	var problems []error
	for _, c := range contenders {
		problems = append(problems, c.Stop())
	}
	return errors.Join(problems...)
}

func (c *contender) send(r request) (harness.Response, error) {
	return c.Call(http.MethodPost, r.path, r.body, r.header)
}

// setAnswer sets the response of the floor.
func (c *contender) setAnswer(status, size int) error {
	_, err := c.Call(http.MethodPost, fmt.Sprintf("%s?status=%d&size=%d", floorPath, status, size), "", "")
	return err
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from) // #nosec G304 -- the benchmark's own database
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
