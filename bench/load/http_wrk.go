package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// warmUp is the length of the run before those that are measured.
const warmUp = time.Second

//go:embed requests.lua
var script []byte

// writeRequests writes the requests for the script, and the script to the same directory.
func writeRequests(path string, requests []request) error {
	var lines bytes.Buffer
	for _, r := range requests {
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", r.path, r.header, r.body)
	}
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(scriptBeside(path), script, 0o600)
}

func scriptBeside(path string) string { return filepath.Join(filepath.Dir(path), "requests.lua") }

// load makes wrk send the requests in turn, as fast as the server responds.
func (c *httpContender) load(ctx context.Context, requests string, connections int, duration time.Duration) (sample, error) {
	out, cpu, err := c.Load(exec.CommandContext(ctx, "wrk", "-t", "1", "-c", strconv.Itoa(connections), // #nosec G204 -- fixed arguments
		"-d", strconv.Itoa(max(1, int(duration.Seconds())))+"s", "--timeout", "30s",
		"-s", scriptBeside(requests), c.URL(), "--", requests, "Authorization: Bearer "+token))
	if err != nil {
		return sample{}, err
	}
	return readSample(out, cpu)
}

// readSample parses the output of the script.
func readSample(out []byte, cpu time.Duration) (sample, error) {
	_, line, ok := strings.Cut(string(out), "RESULT ")
	var result struct {
		Requests, Microseconds, P99, Errors float64
	}
	if !ok || json.NewDecoder(strings.NewReader(line)).Decode(&result) != nil || result.Requests == 0 {
		return sample{}, fmt.Errorf("wrk: no result in %q", out)
	}
	if result.Errors > 0 {
		return sample{}, fmt.Errorf("%.0f of %.0f requests failed", result.Errors, result.Requests)
	}
	return sample{
		Rate: result.Requests / result.Microseconds * 1e6,
		P99:  result.P99 / 1e3,
		CPU:  float64(cpu.Microseconds()) / result.Requests,
	}, nil
}
