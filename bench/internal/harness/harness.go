// Package harness contains the common parts of the load tests: the command line, the
// service and its floor as processes, the data set, and the comparison of figures.
package harness

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

// Settings are the settings that all load tests have.
type Settings struct {
	Guidon   string // the program
	Flags    int    // stored
	Duration time.Duration
	Rounds   int
	Only     string // names of scenarios must contain this
}

// Define defines the flags of the command line. rounds is the default of Rounds.
func (s *Settings) Define(rounds int) {
	flag.StringVar(&s.Guidon, "guidon", "bin/guidon", "the program to measure")
	flag.IntVar(&s.Flags, "flags", 10_000, "number of stored flags, even, and at least 50 for batches")
	flag.DurationVar(&s.Duration, "duration", 2*time.Second, "length of one run, in whole seconds")
	flag.IntVar(&s.Rounds, "rounds", rounds, "runs of each server for each kind of work")
	flag.StringVar(&s.Only, "only", "", "measure only work whose name contains this")
}

// Wants reports whether the scenario with this name is selected.
func (s *Settings) Wants(scenario string) bool { return strings.Contains(scenario, s.Only) }

// Program is a load test.
type Program struct {
	Generator string // the program that sends requests
	Debian    string // the Debian package that contains it
	Floor     func(address string) error
	// Measure is called after the command line has been parsed. It may create files in
	// dir.
	Measure func(ctx context.Context, dir string) error
}

// floorVariable is the environment variable with the address of the floor. The floor is
// another process of the load test itself, so that nothing else must be built.
const floorVariable = "GUIDON_BENCH_FLOOR"

// Main runs the load test and ends the process. The flags must have been defined.
func (p Program) Main() {
	if err := p.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (p Program) run() (err error) {
	if address := os.Getenv(floorVariable); address != "" {
		return p.Floor(address)
	}
	flag.Parse()
	if _, err := exec.LookPath(p.Generator); err != nil {
		return fmt.Errorf("%s is missing: apt-get install %s", p.Generator, p.Debian)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "guidon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return p.Measure(ctx, dir)
}
