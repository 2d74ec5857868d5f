package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// grpcSettings are the settings from the command line.
type grpcSettings struct {
	settings
	connections int
	streams     int // of each connection
}

// grpcTest returns the load test over gRPC.
func grpcTest() loadTest {
	var s grpcSettings
	s.Define(5)
	flag.IntVar(&s.connections, "connections", 8, "connections")
	flag.IntVar(&s.streams, "streams", 8, "concurrent calls on each connection")
	return loadTest{Generator: "h2load", Debian: "nghttp2-client", Floor: serveGRPCFloor, Measure: s.measure}
}

func (s *grpcSettings) measure(ctx context.Context, dir string) (err error) {
	guidon, err := startGRPC(ctx, *s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guidon.Stop()) }()
	floor, err := startGRPCFloor(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.Stop()) }()

	fmt.Printf("Over gRPC, %d connections with %d streams each; ratios to the floor are medians of all rounds:\n\n", s.connections, s.streams)
	fmt.Println("| Work | Floor: requests/s, CPU µs | At least | Requests/s, CPU µs | Ratio of requests/s (range) | Ratio of CPU |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	for _, sc := range grpcScenarios {
		if !s.Wants(sc.name) {
			continue
		}
		if err := sc.measure(ctx, *s, dir, floor, guidon); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	rss, err := guidon.ResidentMiB()
	if err != nil {
		return err
	}
	fmt.Printf("\nmemory afterwards: %.0f MiB\n", rss)
	return nil
}

// measure runs both servers in turns, each first in every other round, and prints the row
// of the table.
func (sc grpcScenario) measure(ctx context.Context, s grpcSettings, dir string, floor, guidon *grpcContender) error {
	body, err := sc.write(ctx, dir, guidon)
	if err != nil {
		return err
	}
	contenders := []*grpcContender{floor, guidon}
	samples, err := inTurns(len(contenders), s.Rounds+1, func(i int) (sample, error) {
		measured, err := contenders[i].load(ctx, s, sc.method, body)
		if err != nil {
			return sample{}, fmt.Errorf("%s: %w", contenders[i].Name, err)
		}
		return measured, nil
	})
	if err != nil {
		return err
	}
	f, g := samples[0][1:], samples[1][1:] // the first round is the warm-up
	rates := ratios(g, f, rateOf)
	fmt.Printf("| %s | %.0f, %.1f | %.2f | %.0f, %.1f | %.2f (%.2f to %.2f) | %.2f |\n", sc.name,
		medianOf(f, rateOf), medianOf(f, cpuOf), sc.target,
		medianOf(g, rateOf), medianOf(g, cpuOf),
		median(rates), slices.Min(rates), slices.Max(rates), median(ratios(g, f, cpuOf)))
	return nil
}

// grpcContender is a server process.
type grpcContender struct {
	*server
	grpc string // the address
}

// startGRPC starts the service and imports the data set.
func startGRPC(ctx context.Context, s grpcSettings, dir string) (*grpcContender, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := startGuidon(ctx, "guidon", s.Guidon, filepath.Join(dir, "guidon.db"), "GUIDON_SERVER_GRPC_PORT="+port)
	if err != nil {
		return nil, err
	}
	c, err := listening(server, address)
	if err != nil {
		return nil, err
	}
	if err := c.Import("default", s.Flags); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot fill the database: %w", err), c.Stop())
	}
	return c, nil
}

func startGRPCFloor(ctx context.Context) (*grpcContender, error) {
	server, err := startFloor(ctx)
	if err != nil {
		return nil, err
	}
	return listening(server, server.Address)
}

// listening waits until the server listens on both addresses.
func listening(server *server, grpc string) (*grpcContender, error) {
	for _, address := range []string{server.Address, grpc} {
		_, err := server.Await(func() bool {
			probe, err := net.Dial("tcp", address)
			return err == nil && probe.Close() == nil
		})
		if err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	return &grpcContender{server: server, grpc: grpc}, nil
}

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
