package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// request is one HTTP request, a POST.
type request struct {
	path   string
	header string // an additional header line, or ""
	body   string
}

// scenario is a kind of work.
type scenario struct {
	name     string
	target   float64 // minimum ratio to the floor's requests per second
	status   int     // of the responses
	requests func(c *contender) ([]request, error)
}

var scenarios = []scenario{
	{"boolean", 0.95, http.StatusOK, single("boolean", func(*contender, int) string { return harness.FlagKey(0) })},
	{"variant", 0.95, http.StatusOK, single("variant", func(*contender, int) string { return harness.FlagKey(1) })},
	{"boolean, all flags in turn", 0.95, http.StatusOK, single("boolean", func(c *contender, i int) string { return harness.FlagKey(2 * i % c.flags) })},
	{"batch of 50", 0.60, http.StatusOK, batch},
	{"OFREP boolean", 0.90, http.StatusOK, singleOFREP(harness.FlagKey(0))},
	{"OFREP variant", 0.90, http.StatusOK, singleOFREP(harness.FlagKey(1))},
	{"OFREP bulk of 50", 0.40, http.StatusOK, bulk},
	{"OFREP bulk, not modified", 0.90, http.StatusNotModified, unmodified},
}

const bulkPath = "/ofrep/v1/evaluate/flags"

// forEntities returns a request for each entity.
func forEntities(make func(c *contender, i int, e entity) (request, object)) func(*contender) ([]request, error) {
	return func(c *contender) ([]request, error) {
		requests := []request{}
		for i := range entityCount {
			r, body := make(c, i, entityOf(i))
			text, err := json.Marshal(body)
			if err != nil {
				return nil, err
			}
			r.body = string(text)
			requests = append(requests, r)
		}
		return requests, nil
	}
}

func single(kind string, key func(c *contender, i int) string) func(*contender) ([]request, error) {
	return forEntities(func(c *contender, i int, e entity) (request, object) {
		return request{path: "/evaluate/v1/" + kind}, e.evaluation(key(c, i))
	})
}

func singleOFREP(key string) func(*contender) ([]request, error) {
	return forEntities(func(_ *contender, _ int, e entity) (request, object) {
		return request{path: bulkPath + "/" + key}, e.context()
	})
}

var batch = forEntities(func(_ *contender, _ int, e entity) (request, object) {
	items := make([]object, pageFlags)
	for i := range items {
		items[i] = e.evaluation(harness.FlagKey(i))
	}
	return request{path: "/evaluate/v1/batch"}, object{"requests": items}
})

var bulk = forEntities(func(_ *contender, _ int, e entity) (request, object) {
	return request{path: bulkPath, header: "X-Flipt-Namespace: " + pageSpace}, e.context()
})

// unmodified returns conditional requests with the ETags of the current responses.
func unmodified(c *contender) ([]request, error) {
	requests, err := bulk(c)
	if err != nil || c.Floor {
		return requests, err
	}
	for i := range requests {
		response, err := c.send(requests[i])
		if err != nil {
			return nil, err
		}
		requests[i].path += "?namespace=" + pageSpace
		requests[i].header = "If-None-Match: " + response.Header.Get("ETag")
	}
	return requests, nil
}

// row contains the measurements of a scenario.
type row struct {
	scenario    scenario
	connections int
	runs        [][]harness.Sample // by contender, the floor first, then by round
}

// measure runs the contenders in turns. The responses of the floor have the same size as
// those of the service.
func (sc scenario) measure(ctx context.Context, s settings, dir string, contenders []*contender, connections int) (row, error) {
	scripts := make([]string, len(contenders))
	size := 0
	for i := len(contenders) - 1; i >= 0; i-- {
		c := contenders[i]
		requests, err := sc.requests(c)
		if err != nil {
			return row{}, err
		}
		if c.Floor {
			err = c.setAnswer(sc.status, size)
		} else {
			size, err = sc.check(c, requests[0])
		}
		if err != nil {
			return row{}, err
		}
		scripts[i] = filepath.Join(dir, fmt.Sprintf("requests-%d", i))
		if err := writeRequests(scripts[i], requests); err != nil {
			return row{}, err
		}
		if _, err := c.load(ctx, scripts[i], connections, warmUp); err != nil {
			return row{}, err
		}
	}
	runs, err := harness.InTurns(len(contenders), s.Rounds, func(i int) (harness.Sample, error) {
		sample, err := contenders[i].load(ctx, scripts[i], connections, s.Duration)
		if err != nil {
			return harness.Sample{}, fmt.Errorf("%s: %w", contenders[i].Name, err)
		}
		return sample, nil
	})
	return row{scenario: sc, connections: connections, runs: runs}, err
}

// check returns the size of the response, whose status must be the expected one.
func (sc scenario) check(c *contender, r request) (int, error) {
	response, err := c.send(r)
	if err != nil {
		return 0, err
	}
	if response.Status != sc.status {
		return 0, fmt.Errorf("got status %d, want %d: %s", response.Status, sc.status, response.Body)
	}
	return len(response.Body), nil
}
