package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// sample is what one run showed.
type sample struct {
	rate float64 // requests per second
	cpu  float64 // of the server, µs per request
}

// requests is how h2load counts at its end.
var requests = regexp.MustCompile(`requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored`)

// load has h2load send the request as often as it is answered.
func (c *contender) load(ctx context.Context, s settings, method, body string) (sample, error) {
	pid := c.process.Process.Pid
	before, err := cpuTime(pid)
	if err != nil {
		return sample{}, err
	}
	seconds := max(1, int(s.duration.Seconds()))
	out, err := exec.CommandContext(ctx, "h2load", "-t", "1", // #nosec G204 -- arguments of our own
		"-c", strconv.Itoa(s.connections), "-m", strconv.Itoa(s.streams), "-D", strconv.Itoa(seconds), "-d", body,
		"-H", "content-type: application/grpc", "-H", "te: trailers", "-H", "authorization: Bearer "+token,
		"http://"+c.address+method).CombinedOutput()
	if err != nil {
		return sample{}, fmt.Errorf("h2load: %w: %s", err, out)
	}
	after, err := cpuTime(pid)
	if err != nil {
		return sample{}, err
	}
	counts := requests.FindSubmatch(out)
	if counts == nil || string(counts[2]) != "0" || string(counts[3]) != "0" {
		return sample{}, fmt.Errorf("h2load: requests failed, or there is no result: %s", out)
	}
	succeeded, err := strconv.ParseFloat(string(counts[1]), 64)
	if err != nil || succeeded == 0 {
		return sample{}, fmt.Errorf("h2load: nothing was answered: %s", out)
	}
	return sample{rate: succeeded / float64(seconds), cpu: float64((after - before).Microseconds()) / succeeded}, nil
}

// tick is the unit of CPU times in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpuTime returns the time that the process has computed.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may contain anything; the third field comes after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, stat)
	}
	sum := 0
	for _, text := range []string{fields[user], fields[system]} {
		ticks, err := strconv.Atoi(text)
		if err != nil {
			return 0, err
		}
		sum += ticks
	}
	return time.Duration(sum) * tick, nil
}

// residentMiB returns the resident memory of the process.
func residentMiB(pid int) (float64, error) {
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
