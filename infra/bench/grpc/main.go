// Command grpc measures how fast the service answers over gRPC, beside a floor: a
// bare grpc-go server, which neither decodes nor checks anything and answers fixed
// bytes (see floor.go). Both run on loopback, in turns, so that what matters is
// the ratio.
//
//	go run ./infra/bench/grpc -guidon bin/guidon
//
// The service has 10,000 flags in an SQLite file, wants a token and writes no
// access log. Requests come from h2load (Debian package nghttp2-client), which
// takes a part of a small machine: so the CPU per request, which is the server's
// own, says more than requests per second where other programs run as well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"
)

// settings is what the command line says.
type settings struct {
	guidon      string // the program
	flags       int    // stored
	duration    time.Duration
	rounds      int
	connections int
	streams     int // of each connection
}

func main() {
	if address := os.Getenv(floorVariable); address != "" {
		exit(serveFloor(address))
	}
	var s settings
	flag.StringVar(&s.guidon, "guidon", "bin/guidon", "the program to measure")
	flag.IntVar(&s.flags, "flags", 10_000, "flags that are stored")
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "length of one run, whole seconds")
	flag.IntVar(&s.rounds, "rounds", 5, "runs of each server for each kind of work")
	flag.IntVar(&s.connections, "connections", 8, "connections")
	flag.IntVar(&s.streams, "streams", 8, "calls under way on each connection")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, s))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, s settings) (err error) {
	if _, err := exec.LookPath("h2load"); err != nil {
		return errors.New("h2load is missing: apt-get install nghttp2-client")
	}
	dir, err := os.MkdirTemp("", "guidon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	guidon, err := startGuidon(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guidon.stop()) }()
	floor, err := startFloor(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()

	fmt.Printf("Over gRPC, %d connections of %d streams; shares of the floor's are medians of the rounds':\n\n", s.connections, s.streams)
	fmt.Println("| Work | Floor: requests/s, CPU µs | At least | Requests/s, CPU µs | Share of requests/s (all rounds) | Share of CPU |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	for _, sc := range scenarios {
		if err := sc.measure(ctx, s, dir, floor, guidon); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	rss, err := residentMiB(guidon.process.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("\nmemory after that: %.0f MiB\n", rss)
	return nil
}

// measure lets both work in turns, each first in every other round, and prints
// the row of the table.
func (sc scenario) measure(ctx context.Context, s settings, dir string, floor, guidon *contender) error {
	body, err := sc.write(ctx, dir, guidon)
	if err != nil {
		return err
	}
	contenders := []*contender{floor, guidon}
	samples := map[*contender][]sample{}
	for round := range s.rounds + 1 { // the first one is to warm up
		for _, c := range contenders {
			result, err := c.load(ctx, s, sc.method, body)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				samples[c] = append(samples[c], result)
			}
		}
		slices.Reverse(contenders)
	}
	var rates, costs []float64
	for i, f := range samples[floor] {
		rates = append(rates, samples[guidon][i].rate/f.rate)
		costs = append(costs, samples[guidon][i].cpu/f.cpu)
	}
	fmt.Printf("| %s | %.0f, %.1f | %.2f | %.0f, %.1f | %.2f (%.2f to %.2f) | %.2f |\n", sc.name,
		median(each(samples[floor], rate)), median(each(samples[floor], cpu)), sc.target,
		median(each(samples[guidon], rate)), median(each(samples[guidon], cpu)),
		median(rates), slices.Min(rates), slices.Max(rates), median(costs))
	return nil
}

func rate(s sample) float64 { return s.rate }
func cpu(s sample) float64  { return s.cpu }

func each(samples []sample, value func(sample) float64) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return values
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
