package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
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
