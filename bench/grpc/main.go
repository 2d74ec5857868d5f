// Command grpc measures the speed of the service over gRPC, compared with a floor: a bare
// grpc-go server, which neither decodes nor checks anything and responds with fixed bytes
// (see floor.go). Both run on loopback, in turns, so that the ratio is meaningful.
//
//	go run ./bench/grpc -guidon bin/guidon
//
// The service has 10,000 flags in an SQLite file, requires a token and writes no access
// log. Requests come from h2load (Debian package nghttp2-client), which uses some of the
// CPU of a small machine. If other programs run as well, the server's CPU time per
// request is more meaningful than requests per second.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// settings are the settings from the command line.
type settings struct {
	harness.Settings
	connections int
	streams     int // of each connection
}

func main() {
	var s settings
	s.Define(5)
	flag.IntVar(&s.connections, "connections", 8, "connections")
	flag.IntVar(&s.streams, "streams", 8, "concurrent calls on each connection")
	harness.Program{Generator: "h2load", Debian: "nghttp2-client", Floor: serveFloor, Measure: s.measure}.Main()
}

func (s *settings) measure(ctx context.Context, dir string) (err error) {
	guidon, err := startGuidon(ctx, *s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guidon.Stop()) }()
	floor, err := startFloor(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.Stop()) }()

	fmt.Printf("Over gRPC, %d connections with %d streams each; ratios to the floor are medians of all rounds:\n\n", s.connections, s.streams)
	fmt.Println("| Work | Floor: requests/s, CPU µs | At least | Requests/s, CPU µs | Ratio of requests/s (range) | Ratio of CPU |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	for _, sc := range scenarios {
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
func (sc scenario) measure(ctx context.Context, s settings, dir string, floor, guidon *contender) error {
	body, err := sc.write(ctx, dir, guidon)
	if err != nil {
		return err
	}
	contenders := []*contender{floor, guidon}
	samples, err := harness.InTurns(len(contenders), s.Rounds+1, func(i int) (harness.Sample, error) {
		sample, err := contenders[i].load(ctx, s, sc.method, body)
		if err != nil {
			return harness.Sample{}, fmt.Errorf("%s: %w", contenders[i].Name, err)
		}
		return sample, nil
	})
	if err != nil {
		return err
	}
	f, g := samples[0][1:], samples[1][1:] // the first round is the warm-up
	rates := harness.Ratios(g, f, harness.Rate)
	fmt.Printf("| %s | %.0f, %.1f | %.2f | %.0f, %.1f | %.2f (%.2f to %.2f) | %.2f |\n", sc.name,
		harness.MedianOf(f, harness.Rate), harness.MedianOf(f, harness.CPU), sc.target,
		harness.MedianOf(g, harness.Rate), harness.MedianOf(g, harness.CPU),
		harness.Median(rates), slices.Min(rates), slices.Max(rates), harness.Median(harness.Ratios(g, f, harness.CPU)))
	return nil
}
