package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

// httpSettings are the settings from the command line.
type httpSettings struct {
	settings
	connections connectionCounts
}

// httpTest returns the load test over HTTP.
func httpTest() loadTest {
	s := httpSettings{connections: connectionCounts{32, 128}}
	s.Define(3)
	flag.Var(&s.connections, "connections", "numbers of connections, separated by commas")
	return loadTest{Generator: "wrk", Debian: "wrk", Floor: serveHTTPFloor, Measure: s.measure}
}

func (s *httpSettings) measure(ctx context.Context, dir string) (err error) {
	contenders, err := startContenders(ctx, *s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(contenders)) }()

	report := report{service: contenders[1]}
	for _, sc := range httpScenarios {
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
