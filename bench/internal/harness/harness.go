// Package harness is what the load tests have in common: their command line, the
// service and its floor as processes, the flags that are stored, and how the
// figures of the two are compared.
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

// Settings is what every command line says.
type Settings struct {
	Guidon   string // the program
	Flags    int    // stored
	Duration time.Duration
	Rounds   int
	Only     string // what the names of scenarios must contain
}

// Define defines the flags of the command line. Rounds is the default of theirs.
func (s *Settings) Define(rounds int) {
	flag.StringVar(&s.Guidon, "guidon", "bin/guidon", "the program to measure")
	flag.IntVar(&s.Flags, "flags", 10_000, "flags that are stored, an even number; 50 and more for batches")
	flag.DurationVar(&s.Duration, "duration", 2*time.Second, "length of one run, whole seconds")
	flag.IntVar(&s.Rounds, "rounds", rounds, "runs of each server for each kind of work")
	flag.StringVar(&s.Only, "only", "", "measure only work whose name contains this")
}

// Wants tells whether the scenario of this name is to be measured.
func (s *Settings) Wants(scenario string) bool { return strings.Contains(scenario, s.Only) }

// Program is a load test.
type Program struct {
	Generator string // the program that sends requests
	Debian    string // the package that has it
	Floor     func(address string) error
	// Measure is called when the command line has been read. It may keep files in
	// the folder.
	Measure func(ctx context.Context, dir string) error
}

// floorVariable holds the address in the environment of the process that is the
// floor: the load test once more, so that there is nothing else to build.
const floorVariable = "GUIDON_BENCH_FLOOR"

// Main runs the program, whose flags are defined, and ends the process.
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
