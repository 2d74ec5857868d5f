package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// response is an HTTP response.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

var client = &http.Client{Timeout: patience}

// URL returns the base URL of the server.
func (s *server) URL() string { return "http://" + s.Address }

// Call sends an HTTP request. header is an additional header line, or "".
func (s *server) Call(method, path, body, header string) (response, error) {
	r, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "identity") // no compression, as with wrk
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	got, err := client.Do(r)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, text}, err
}

// Post sends a POST request. It returns an error unless the status is 200.
func (s *server) Post(path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := s.Call(http.MethodPost, path, string(text), "")
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("POST %s: %d %s", path, a.Status, a.Body)
	}
	return err
}

// Import imports n flags of the data set into an existing namespace.
func (s *server) Import(namespace string, n int) error {
	return s.Post("/api/v1/namespaces/"+namespace+"/import", object{"document": document(n)})
}
