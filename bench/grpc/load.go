package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// requests matches the summary of h2load.
var requests = regexp.MustCompile(`requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored`)

// load makes h2load send the request repeatedly, as fast as the server responds.
func (c *contender) load(ctx context.Context, s settings, method, body string) (harness.Sample, error) {
	seconds := max(1, int(s.Duration.Seconds()))
	out, cpu, err := c.Load(exec.CommandContext(ctx, "h2load", "-t", "1", // #nosec G204 -- fixed arguments
		"-c", strconv.Itoa(s.connections), "-m", strconv.Itoa(s.streams), "-D", strconv.Itoa(seconds), "-d", body,
		"-H", "content-type: application/grpc", "-H", "te: trailers", "-H", "authorization: Bearer "+harness.Token,
		"http://"+c.grpc+method))
	if err != nil {
		return harness.Sample{}, err
	}
	counts := requests.FindSubmatch(out)
	if counts == nil || string(counts[2]) != "0" || string(counts[3]) != "0" {
		return harness.Sample{}, fmt.Errorf("h2load: failed requests or no result: %s", out)
	}
	succeeded, err := strconv.ParseFloat(string(counts[1]), 64)
	if err != nil || succeeded == 0 {
		return harness.Sample{}, fmt.Errorf("h2load: no successful requests: %s", out)
	}
	return harness.Sample{Rate: succeeded / float64(seconds), CPU: float64(cpu.Microseconds()) / succeeded}, nil
}
