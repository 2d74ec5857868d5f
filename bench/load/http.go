package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// httpSettings are the settings from the command line.
type httpSettings struct {
	settings
	connections connectionCounts
}

// httpTest returns the load test over HTTP.
func httpTest() loadTest {
	s := httpSettings{connections: connectionCounts{32, 128}}
	s.Define(3)
	flag.Var(&s.connections, "connections", "numbers of connections, separated by commas")
	return loadTest{Generator: "wrk", Debian: "wrk", Floor: serveHTTPFloor, Measure: s.measure}
}

func (s *httpSettings) measure(ctx context.Context, dir string) (err error) {
	contenders, err := startContenders(ctx, *s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(contenders)) }()

	report := report{service: contenders[1]}
	for _, sc := range httpScenarios {
		if !s.Wants(sc.name) {
			continue
		}
		for _, n := range s.connections {
			fmt.Fprintf(os.Stderr, "%s, %d connections\n", sc.name, n)
			row, err := sc.measure(ctx, *s, dir, contenders, n)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.name, err)
			}
			report.rows = append(report.rows, row)
		}
	}
	if report.latency, err = measureLatency(ctx, *s, contenders); err != nil {
		return err
	}
	for _, c := range contenders {
		rss, err := c.ResidentMiB()
		if err != nil {
			return err
		}
		report.memory = append(report.memory, rss)
	}
	report.print(os.Stdout)
	return nil
}

// httpContender is a server process.
type httpContender struct {
	*server
	flags     int           // stored, an even number
	healthy   time.Duration // from the start until it was healthy
	evaluated time.Duration // from the start until its first evaluation
}

// startContenders starts the floor, the service without an access log, and the service
// with one. Both services have the same data.
func startContenders(ctx context.Context, s httpSettings, dir string) (started []*httpContender, err error) {
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
	for _, start := range []func() (*server, error){
		func() (*server, error) { return startFloor(ctx) },
		func() (*server, error) { return startHTTP(ctx, s, "log off", quiet, "warn") },
		func() (*server, error) { return startHTTP(ctx, s, "log on", logging, "info") },
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
func fill(ctx context.Context, s httpSettings, path string) error {
	c, err := awaited(startHTTP(ctx, s, "filler", path, "warn"))
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

func startHTTP(ctx context.Context, s httpSettings, name, database, level string) (*server, error) {
	return startGuidon(ctx, name, s.Guidon, database, "GUIDON_LOG_LEVEL="+level, "GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true")
}

// awaited waits until a started server is healthy.
func awaited(server *server, err error) (*httpContender, error) {
	if err != nil {
		return nil, err
	}
	c := &httpContender{server: server}
	if c.healthy, err = c.await(http.MethodGet, "/health", nil); err == nil && !c.Floor {
		body, _ := json.Marshal(entityOf(0).evaluation(flagKey(0)))
		c.evaluated, err = c.await(http.MethodPost, "/evaluate/v1/boolean", body)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// await waits until the server responds with a status below 500.
func (c *httpContender) await(method, path string, body []byte) (time.Duration, error) {
	return c.Await(func() bool {
		a, err := c.Call(method, path, string(body), "")
		return err == nil && a.Status < http.StatusInternalServerError
	})
}

func stopAll(contenders []*httpContender) error {
	var problems []error
	for _, c := range contenders {
		problems = append(problems, c.Stop())
	}
	return errors.Join(problems...)
}

func (c *httpContender) send(r request) (response, error) {
	return c.Call(http.MethodPost, r.path, r.body, r.header)
}

// setAnswer sets the response of the floor.
func (c *httpContender) setAnswer(status, size int) error {
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
