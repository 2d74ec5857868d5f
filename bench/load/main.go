// Command load measures the speed of the service under load, compared with a floor: the least
// work that a Go server can do for the same requests. All servers run on loopback, on the same
// machine and in turns, so that the ratio is meaningful.
//
//	go run ./bench/load http -guidon bin/guidon
//	go run ./bench/load grpc -guidon bin/guidon
//
// The service has 10,000 flags in an SQLite file and requires a token.
//
//   - http: the service runs twice, without and with an access log, which is written to
//     /dev/null. The floor is package floor. Requests come from wrk (Debian package wrk), which
//     uses much of the CPU of a small machine.
//   - grpc: the service writes no access log. The floor is a bare grpc-go server, which neither
//     decodes nor checks anything and responds with fixed bytes (floor.go). Requests come
//     from h2load (Debian package nghttp2-client), which uses some of the CPU.
//
// If other programs run as well, the server's CPU time per request is more meaningful than
// requests per second.
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

// settings are the settings that all load tests have.
type settings struct {
	Guidon   string // the program
	Flags    int    // stored
	Duration time.Duration
	Rounds   int
	Only     string // names of scenarios must contain this
}

// Define defines the flags of the command line. rounds is the default of Rounds.
func (s *settings) Define(rounds int) {
	flag.StringVar(&s.Guidon, "guidon", "bin/guidon", "the program to measure")
	flag.IntVar(&s.Flags, "flags", 10_000, "number of stored flags, even, and at least 50 for batches")
	flag.DurationVar(&s.Duration, "duration", 2*time.Second, "length of one run, in whole seconds")
	flag.IntVar(&s.Rounds, "rounds", rounds, "runs of each server for each kind of work")
	flag.StringVar(&s.Only, "only", "", "measure only work whose name contains this")
}

// Wants reports whether the scenario with this name is selected.
func (s *settings) Wants(scenario string) bool { return strings.Contains(scenario, s.Only) }

// loadTest is a load test.
type loadTest struct {
	Generator string // the program that sends requests
	Debian    string // the Debian package that contains it
	Floor     func(address string) error
	// Measure is called after the command line has been parsed. It may create files in
	// dir.
	Measure func(ctx context.Context, dir string) error
}

// floorVariable is the environment variable with the address of the floor. The floor is
// another process of this program, so that nothing else must be built.
const floorVariable = "GUIDON_BENCH_FLOOR"

// tests make the load tests by their names, and define the flags of their command lines.
var tests = map[string]func() loadTest{"http": httpTest, "grpc": grpcTest}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the load test that the first argument names.
func run(args []string) (err error) {
	if len(args) == 0 || tests[args[0]] == nil {
		return errors.New("the first argument must be http or grpc")
	}
	test := tests[args[0]]()
	if address := os.Getenv(floorVariable); address != "" {
		return test.Floor(address)
	}
	if err := flag.CommandLine.Parse(args[1:]); err != nil {
		return err
	}
	if _, err := exec.LookPath(test.Generator); err != nil {
		return fmt.Errorf("%s is missing: apt-get install %s", test.Generator, test.Debian)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "guidon-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return test.Measure(ctx, dir)
}
