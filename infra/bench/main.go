// Command bench measures how fast the service answers, beside a floor: the least
// that a Go server can do for the same requests (see floor.go). All of them run on
// loopback, on the same machine and in turns, so that what matters is the ratio.
//
//	go run ./infra/bench -guidon bin/guidon
//
// The service runs twice, without and with an access log, which goes to
// /dev/null. It has 10,000 flags in an SQLite file and wants a token. Requests
// come from wrk (Debian package wrk), which takes a good part of a small machine:
// so the CPU per request, which is the server's own, says more than requests per
// second where other programs run as well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// settings is what the command line says.
type settings struct {
	guidon      string // the program
	flags       int    // stored
	duration    time.Duration
	rounds      int
	connections connectionCounts
	only        string // what the names of scenarios must contain
}

func main() {
	if address := os.Getenv(floorVariable); address != "" {
		exit(serveFloor(address))
	}
	s := settings{connections: connectionCounts{32, 128}}
	flag.StringVar(&s.guidon, "guidon", "bin/guidon", "the program to measure")
	flag.IntVar(&s.flags, "flags", 10_000, "flags that are stored")
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "length of one run, whole seconds")
	flag.IntVar(&s.rounds, "rounds", 3, "runs of each server for each kind of work")
	flag.Var(&s.connections, "connections", "connections, several separated by commas")
	flag.StringVar(&s.only, "only", "", "measure only work whose name contains this")
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
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("wrk is missing: apt-get install wrk")
	}
	dir, err := os.MkdirTemp("", "guidon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	contenders, err := startContenders(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(contenders)) }()

	report := report{service: contenders[1]}
	for _, sc := range scenarios {
		if !strings.Contains(sc.name, s.only) {
			continue
		}
		for _, n := range s.connections {
			fmt.Fprintf(os.Stderr, "%s, %d connections\n", sc.name, n)
			row, err := sc.measure(ctx, s, dir, contenders, n)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.name, err)
			}
			report.rows = append(report.rows, row)
		}
	}
	if report.latency, err = measureLatency(ctx, s, contenders); err != nil {
		return err
	}
	for _, c := range contenders {
		rss, err := residentMiB(c.pid())
		if err != nil {
			return err
		}
		report.memory = append(report.memory, rss)
	}
	report.print(os.Stdout)
	return nil
}
