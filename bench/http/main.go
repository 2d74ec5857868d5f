// Command bench measures the speed of the service, compared with a floor: the least work
// that a Go server can do for the same requests (package floor). All servers run on
// loopback, on the same machine and in turns, so that the ratio is meaningful.
//
//	go run ./bench/http -guidon bin/guidon
//
// The service runs twice, without and with an access log, which is written to /dev/null.
// It has 10,000 flags in an SQLite file and requires a token. Requests come from wrk
// (Debian package wrk), which uses much of the CPU of a small machine. If other programs
// run as well, the server's CPU time per request is more meaningful than requests per
// second.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// settings are the settings from the command line.
type settings struct {
	harness.Settings
	connections connectionCounts
}

func main() {
	s := settings{connections: connectionCounts{32, 128}}
	s.Define(3)
	flag.Var(&s.connections, "connections", "numbers of connections, separated by commas")
	harness.Program{Generator: "wrk", Debian: "wrk", Floor: serveFloor, Measure: s.measure}.Main()
}

func (s *settings) measure(ctx context.Context, dir string) (err error) {
	contenders, err := startContenders(ctx, *s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(contenders)) }()

	report := report{service: contenders[1]}
	for _, sc := range scenarios {
		if !s.Wants(sc.name) {
			continue
		}
		for _, n := range s.connections {
			fmt.Fprintf(os.Stderr, "%s, %d connections\n", sc.name, n)
			row, err := sc.measure(ctx, *s, dir, contenders, n)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.name, err)
			}
			report.rows = append(report.rows, row)
		}
	}
	if report.latency, err = measureLatency(ctx, *s, contenders); err != nil {
		return err
	}
	for _, c := range contenders {
		rss, err := c.ResidentMiB()
		if err != nil {
			return err
		}
		report.memory = append(report.memory, rss)
	}
	report.print(os.Stdout)
	return nil
}
