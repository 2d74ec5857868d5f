package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The requests as a server of a few lines would declare them.
type (
	floorEvaluation struct {
		RequestID    string            `json:"requestId"`
		NamespaceKey string            `json:"namespaceKey"`
		FlagKey      string            `json:"flagKey"`
		EntityID     string            `json:"entityId"`
		Context      map[string]string `json:"context"`
		Reference    string            `json:"reference"`
		Requests     []floorEvaluation `json:"requests"` // of a batch
	}
	floorOFREP struct {
		Context map[string]any `json:"context"`
	}
)

// floorAnswer is what the floor answers everything with.
type floorAnswer struct {
	status int
	body   []byte
	length []string
}

// floorPath is where the floor is told what to answer.
const floorPath = "/floor"

// serveFloor serves the floor: net/http, which decodes each request with
// encoding/json and writes a fixed answer. It knows no flags, no routes and no
// tokens.
func serveFloor(address string) error {
	var answer atomic.Pointer[floorAnswer]
	contentType := []string{"application/json"}
	work := func(w http.ResponseWriter, r *http.Request) {
		var err error
		if strings.HasPrefix(r.URL.Path, bulkPath) {
			err = json.NewDecoder(r.Body).Decode(&floorOFREP{})
		} else {
			err = json.NewDecoder(r.Body).Decode(&floorEvaluation{})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a := answer.Load()
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
	server := &http.Server{Addr: address, ReadTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != floorPath {
			work(w, r)
			return
		}
		status, _ := strconv.Atoi(r.FormValue("status"))
		size, _ := strconv.Atoi(r.FormValue("size"))
		answer.Store(&floorAnswer{
			status: status, body: []byte(`"` + strings.Repeat("a", max(size-2, 0)) + `"`), length: []string{strconv.Itoa(max(size, 2))},
		})
	})}
	return server.ListenAndServe()
}
