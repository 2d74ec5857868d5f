package main

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
)

const (
	emfPeriod = time.Minute
	emfValues = 100 // of one metric, at most (CloudWatch)
)

// emf is a [call.Observer] that writes metrics in the embedded format of CloudWatch: one line for
// each minute in which this process had requests, with the first request after it. What it has
// counted when it ends is lost.
type emf struct {
	out      io.Writer
	function string // its name
	now      func() time.Time

	mu       sync.Mutex
	since    time.Time // of the first request that is counted
	requests int
	errors   int
	millis   []float64 // the durations, or a random sample
}

// Finished implements [call.Observer].
func (m *emf) Finished(_, _ string, code guidon.Code, duration time.Duration, _ string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.requests > 0 && now.Sub(m.since) >= emfPeriod {
		m.write(now)
	}
	if m.requests == 0 {
		m.since = now
	}
	m.requests++
	if code == guidon.Internal || code == guidon.Unavailable {
		m.errors++
	}
	millis := float64(duration.Microseconds()) / 1000
	if len(m.millis) < emfValues {
		m.millis = append(m.millis, millis)
	} else if i := rand.N(m.requests); i < emfValues { // #nosec G404 -- a sample, not a secret
		m.millis[i] = millis
	}
}

// write writes the line, and begins to count anew.
func (m *emf) write(now time.Time) {
	type metric struct{ Name, Unit string }
	line, err := json.Marshal(map[string]any{
		"_aws": map[string]any{
			"Timestamp": now.UnixMilli(),
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace": "Guidon", "Dimensions": [][]string{{"FunctionName"}},
				"Metrics": []metric{{"Requests", "Count"}, {"Errors", "Count"}, {"Duration", "Milliseconds"}},
			}},
		},
		"FunctionName": m.function, "Requests": m.requests, "Errors": m.errors, "Duration": m.millis,
	})
	if err == nil { // impossible otherwise
		_, _ = m.out.Write(append(line, '\n')) // there is nowhere to report an error
	}
	m.requests, m.errors, m.millis = 0, 0, nil
}
