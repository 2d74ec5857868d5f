// Package floor does the least work that a Go server can do for the requests of the
// service. The speed of the service is compared with it.
package floor

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Evaluation is the request for an evaluation, or for a batch of them, as a minimal
// server would declare it.
type Evaluation struct {
	RequestID    string            `json:"requestId"`
	NamespaceKey string            `json:"namespaceKey"`
	FlagKey      string            `json:"flagKey"`
	EntityID     string            `json:"entityId"`
	Context      map[string]string `json:"context"`
	Reference    string            `json:"reference"`
	Requests     []Evaluation      `json:"requests"` // of a batch
}

// ofrep is an OFREP request.
type ofrep struct {
	Context map[string]any `json:"context"`
}

// Answer is a handler that decodes each request with encoding/json and always sends the
// same response. It has no flags, routes or tokens. It is safe for concurrent use.
type Answer struct {
	status int
	body   []byte
	length []string
}

var contentType = []string{"application/json"}

// NewAnswer returns an Answer with the status and, if that is 200, a body of size bytes,
// but at least 2.
func NewAnswer(status, size int) *Answer {
	size = max(size, 2)
	return &Answer{status: status, body: []byte(`"` + strings.Repeat("a", size-2) + `"`), length: []string{strconv.Itoa(size)}}
}

// ServeHTTP implements [http.Handler].
func (a *Answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	if strings.HasPrefix(r.URL.Path, "/ofrep/") {
		err = json.NewDecoder(r.Body).Decode(&ofrep{})
	} else {
		err = json.NewDecoder(r.Body).Decode(&Evaluation{})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	header := w.Header()
	if a.status == http.StatusOK {
		header["Content-Type"] = contentType
		header["Content-Length"] = a.length
	}
	w.WriteHeader(a.status)
	if a.status == http.StatusOK {
		_, _ = w.Write(a.body)
	}
}
