package main

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/bench/floor"
)

// floorPath is the path that sets the response of the floor.
const floorPath = "/floor"

// serveHTTPFloor serves the floor with net/http.
func serveHTTPFloor(address string) error {
	var answer atomic.Pointer[floor.Answer]
	server := &http.Server{Addr: address, ReadTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != floorPath {
			answer.Load().ServeHTTP(w, r)
			return
		}
		status, _ := strconv.Atoi(r.FormValue("status"))
		size, _ := strconv.Atoi(r.FormValue("size"))
		answer.Store(floor.NewAnswer(status, size))
	})}
	return server.ListenAndServe()
}
