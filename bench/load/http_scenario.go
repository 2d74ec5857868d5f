package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
)

// request is one HTTP request, a POST.
type request struct {
	path   string
	header string // an additional header line, or ""
	body   string
}

// httpScenario is a kind of work.
type httpScenario struct {
	name     string
	target   float64 // minimum ratio to the floor's requests per second
	status   int     // of the responses
	requests func(c *httpContender) ([]request, error)
}

var httpScenarios = []httpScenario{
	{"boolean", 0.95, http.StatusOK, single("boolean", func(*httpContender, int) string { return flagKey(0) })},
	{"variant", 0.95, http.StatusOK, single("variant", func(*httpContender, int) string { return flagKey(1) })},
	{"boolean, all flags in turn", 0.95, http.StatusOK, single("boolean", func(c *httpContender, i int) string { return flagKey(2 * i % c.flags) })},
	{"batch of 50", 0.60, http.StatusOK, batch},
	{"OFREP boolean", 0.90, http.StatusOK, singleOFREP(flagKey(0))},
	{"OFREP variant", 0.90, http.StatusOK, singleOFREP(flagKey(1))},
	{"OFREP bulk of 50", 0.40, http.StatusOK, bulk},
	{"OFREP bulk, not modified", 0.90, http.StatusNotModified, unmodified},
}

const bulkPath = "/ofrep/v1/evaluate/flags"

// forEntities returns a request for each entity.
func forEntities(make func(c *httpContender, i int, e entity) (request, object)) func(*httpContender) ([]request, error) {
	return func(c *httpContender) ([]request, error) {
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

func single(kind string, key func(c *httpContender, i int) string) func(*httpContender) ([]request, error) {
	return forEntities(func(c *httpContender, i int, e entity) (request, object) {
		return request{path: "/evaluate/v1/" + kind}, e.evaluation(key(c, i))
	})
}

func singleOFREP(key string) func(*httpContender) ([]request, error) {
	return forEntities(func(_ *httpContender, _ int, e entity) (request, object) {
		return request{path: bulkPath + "/" + key}, e.context()
	})
}

var batch = forEntities(func(_ *httpContender, _ int, e entity) (request, object) {
	items := make([]object, pageFlags)
	for i := range items {
		items[i] = e.evaluation(flagKey(i))
	}
	return request{path: "/evaluate/v1/batch"}, object{"requests": items}
})

var bulk = forEntities(func(_ *httpContender, _ int, e entity) (request, object) {
	return request{path: bulkPath, header: "X-Flipt-Namespace: " + pageSpace}, e.context()
})

// unmodified returns conditional requests with the ETags of the current responses.
func unmodified(c *httpContender) ([]request, error) {
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
	scenario    httpScenario
	connections int
	runs        [][]sample // by contender, the floor first, then by round
}

// measure runs the contenders in turns. The responses of the floor have the same size as
// those of the service.
func (sc httpScenario) measure(ctx context.Context, s httpSettings, dir string, contenders []*httpContender, connections int) (row, error) {
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
	runs, err := inTurns(len(contenders), s.Rounds, func(i int) (sample, error) {
		measured, err := contenders[i].load(ctx, scripts[i], connections, s.Duration)
		if err != nil {
			return sample{}, fmt.Errorf("%s: %w", contenders[i].Name, err)
		}
		return measured, nil
	})
	return row{scenario: sc, connections: connections, runs: runs}, err
}

// check returns the size of the response, whose status must be the expected one.
func (sc httpScenario) check(c *httpContender, r request) (int, error) {
	response, err := c.send(r)
	if err != nil {
		return 0, err
	}
	if response.Status != sc.status {
		return 0, fmt.Errorf("got status %d, want %d: %s", response.Status, sc.status, response.Body)
	}
	return len(response.Body), nil
}

// The data of the requests. All entities match all constraints.
const (
	entityCount = 1000
	pageFlags   = 50     // in a batch, and in the namespace of bulk requests
	pageSpace   = "page" // the namespace of bulk requests
)

// entity is an entity for which flags are evaluated.
type entity struct {
	id  string
	age int
}

func entityOf(i int) entity { return entity{id: fmt.Sprintf("user-%04d", i), age: 18 + i%50} }

// evaluation returns a request for one flag in the Flipt API.
func (e entity) evaluation(flag string) object {
	return object{
		"namespaceKey": "default", "flagKey": flag, "entityId": e.id,
		"context": map[string]string{"country": "US", "age": fmt.Sprint(e.age), "beta": "true"},
	}
}

// context returns the OFREP request for the entity.
func (e entity) context() object {
	return object{"context": object{"targetingKey": e.id, "country": "US", "age": e.age, "beta": true}}
}
