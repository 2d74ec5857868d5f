package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// h2loadSummary matches the summary of h2load.
var h2loadSummary = regexp.MustCompile(`requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored`)

// load makes h2load send the request repeatedly, as fast as the server responds.
func (c *grpcContender) load(ctx context.Context, s grpcSettings, method, body string) (sample, error) {
	seconds := max(1, int(s.Duration.Seconds()))
	out, cpu, err := c.Load(exec.CommandContext(ctx, "h2load", "-t", "1", // #nosec G204 -- fixed arguments
		"-c", strconv.Itoa(s.connections), "-m", strconv.Itoa(s.streams), "-D", strconv.Itoa(seconds), "-d", body,
		"-H", "content-type: application/grpc", "-H", "te: trailers", "-H", "authorization: Bearer "+token,
		"http://"+c.grpc+method))
	if err != nil {
		return sample{}, err
	}
	counts := h2loadSummary.FindSubmatch(out)
	if counts == nil || string(counts[2]) != "0" || string(counts[3]) != "0" {
		return sample{}, fmt.Errorf("h2load: failed requests or no result: %s", out)
	}
	succeeded, err := strconv.ParseFloat(string(counts[1]), 64)
	if err != nil || succeeded == 0 {
		return sample{}, fmt.Errorf("h2load: no successful requests: %s", out)
	}
	return sample{Rate: succeeded / float64(seconds), CPU: float64(cpu.Microseconds()) / succeeded}, nil
}
