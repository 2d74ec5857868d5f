package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The open loop sends requests at a fixed rate, independently of the responses.
const (
	openRate        = 1000
	openConnections = 32
)

// measureLatency returns the 99th percentile of each contender at a fixed rate, in ms. It
// is the median of all rounds.
func measureLatency(ctx context.Context, s httpSettings, contenders []*httpContender) ([]float64, error) {
	requests, err := httpScenarios[0].requests(nil)
	if err != nil {
		return nil, err
	}
	rounds := make([][]float64, len(contenders))
	for range s.Rounds {
		for i, c := range contenders {
			p99, err := c.openLoop(ctx, requests, s.Duration)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			rounds[i] = append(rounds[i], p99)
		}
	}
	medians := make([]float64, len(contenders))
	for i := range rounds {
		medians[i] = median(rounds[i])
	}
	return medians, nil
}

// openLoop returns the 99th percentile in ms. If a request is delayed by the previous
// response, its time starts when it was due, so that stalls are not hidden. Otherwise it
// starts when the request is sent, so that the timer of this program does not count.
func (c *httpContender) openLoop(ctx context.Context, requests []request, duration time.Duration) (float64, error) {
	total := int(openRate * duration.Seconds())
	took := make([]time.Duration, total)
	failed := make([]error, openConnections)
	begin := time.Now()
	var wait sync.WaitGroup
	for lane := range openConnections {
		wait.Go(func() { failed[lane] = c.lane(ctx, lane, begin, requests, took) })
	}
	wait.Wait()
	for _, err := range failed {
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return float64(took[total*99/100].Microseconds()) / 1e3, nil
}

// lane sends every openConnections-th request over one connection.
func (c *httpContender) lane(ctx context.Context, lane int, begin time.Time, requests []request, took []time.Duration) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return err
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for i := lane; i < len(took); i += openConnections {
		from := begin.Add(time.Duration(i) * time.Second / openRate)
		if early := time.Until(from); early > 0 {
			time.Sleep(early)
			from = time.Now()
		}
		r := requests[i%len(requests)]
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			r.path, c.Address, token, len(r.body), r.body); err != nil {
			return err
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err != nil {
			return err
		}
		took[i] = time.Since(from)
	}
	return nil
}
