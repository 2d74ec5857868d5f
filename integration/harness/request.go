package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Answer is the response to an HTTP request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Client is the HTTP client of Call. It keeps enough idle connections for the concurrent
// callers of a test.
var Client = &http.Client{Timeout: Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

// Call sends a request, with a JSON body if body is not nil. A header has the form
// "Name: value". It returns an error if there was no complete response.
func (s *Server) Call(ctx context.Context, method, path string, body any, headers ...string) (Answer, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		return Answer{}, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	response, err := Client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Must is Call for requests that must succeed with 200. If result is not nil, the body is
// decoded into it.
func (s *Server) Must(t testing.TB, method, path string, body, result any, headers ...string) Answer {
	t.Helper()
	a, err := s.Call(t.Context(), method, path, body, headers...)
	mustSucceed(t, err)
	if a.Status != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, path, a.Status, a.Body)
	}
	if result != nil {
		if err := json.Unmarshal(a.Body, result); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
		}
	}
	return a
}

// Document is a small document to import: a variant flag and a boolean flag, both with a
// segment. The tests of the published clients evaluate these.
var Document = map[string]any{
	"segments": []any{map[string]any{
		"key": "segment1", "name": "Segment 1",
		"constraints": []any{map[string]any{
			"type": "STRING_COMPARISON_TYPE", "property": "fizz", "operator": "eq", "value": "buzz",
		}},
	}},
	"flags": []any{
		map[string]any{
			"key": "flag1", "name": "Flag 1", "enabled": true,
			"variants": []any{map[string]any{"key": "variant1", "attachment": `{"colour":"teal"}`}},
			"rules": []any{map[string]any{
				"segmentKeys":   []any{"segment1"},
				"distributions": []any{map[string]any{"variant": "variant1", "rollout": 100}},
			}},
		},
		map[string]any{
			"key": "flag_boolean", "name": "Boolean", "type": "BOOLEAN_FLAG_TYPE",
			"rollouts": []any{map[string]any{"segment": map[string]any{"segmentKeys": []any{"segment1"}, "value": true}}},
		},
	},
}
