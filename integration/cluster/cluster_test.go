package cluster

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// instances is the number of servers that share one database in these tests.
const instances = 3

// cluster is a set of servers that share one database.
type cluster []*harness.Server

// startCluster starts n servers on the database concurrently, and waits until all of them
// serve.
func startCluster(t *testing.T, n int, database string, env ...string) cluster {
	t.Helper()
	c := make(cluster, n)
	for i := range c {
		c[i] = harness.Launch(t, database, env...)
	}
	for _, s := range c {
		s.AwaitServing(t)
	}
	return c
}

// check compares every server with the ledger.
func (c cluster) check(t *testing.T, l *ledger) {
	t.Helper()
	for _, s := range c {
		select {
		case err := <-s.Done():
			t.Errorf("a server has ended: %v", err)
		default:
			l.check(t, s)
		}
	}
}

// load is a set of writers that write until they are stopped, also if their writes fail.
type load struct {
	ledger  *ledger
	stopped chan struct{}
	writing sync.WaitGroup

	acknowledged chan struct{} // receives for each such write while a goroutine waits
	failed       chan struct{} // likewise
	slowest      atomic.Int64  // duration of a write
	failures     atomic.Int64
}

// startLoad starts the writers, distributed over the servers.
func startLoad(t *testing.T, c cluster, l *ledger, writers int) *load {
	w := &load{ledger: l, stopped: make(chan struct{}), acknowledged: make(chan struct{}), failed: make(chan struct{})}
	for i := range writers {
		w.writing.Go(func() { w.write(t, c[i%len(c)], i) })
	}
	t.Cleanup(w.stop)
	return w
}

func (w *load) write(t *testing.T, s *harness.Server, writer int) {
	for n := 0; ; n++ {
		select {
		case <-w.stopped:
			return
		default:
		}
		begin := time.Now()
		result := w.ledger.write(t, s, fmt.Sprintf("w%d-%d", writer, n), n)
		for took, slowest := int64(time.Since(begin)), w.slowest.Load(); took > slowest; slowest = w.slowest.Load() {
			if w.slowest.CompareAndSwap(slowest, took) {
				break
			}
		}
		event := w.acknowledged
		switch result {
		case acknowledged:
		case gone:
			t.Errorf("writer %d got no response", writer)
			return
		default:
			w.failures.Add(1)
			event = w.failed
		}
		select {
		case event <- struct{}{}:
		default:
		}
	}
}

// await waits for n events, at most for harness.Patience.
func await(t *testing.T, n int, what string, events <-chan struct{}) {
	t.Helper()
	end := time.After(harness.Patience)
	for i := range n {
		select {
		case <-events:
		case <-end:
			t.Fatalf("%d of %d %s after %v", i, n, what, harness.Patience)
		}
	}
}

// stop ends the writers after the writes in progress. It may be called more than once.
func (w *load) stop() {
	select {
	case <-w.stopped:
	default:
		close(w.stopped)
	}
	w.writing.Wait()
}

// awaitRecovery waits until writes to the server succeed again.
func awaitRecovery(t *testing.T, s *harness.Server, l *ledger, id string) {
	t.Helper()
	end := time.Now().Add(harness.Patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for n := 0; l.write(t, s, fmt.Sprintf("%s-%d", id, n), 0) != acknowledged; n++ {
		if time.Now().After(end) {
			t.Fatalf("%s does not recover", s.URL)
		}
		<-again.C
	}
}

// failsFast sends a request while the database is unavailable, and checks that it is
// rejected within the limit, with 503 and Retry-After.
func failsFast(t *testing.T, s *harness.Server, bound time.Duration, method, path string, body any, headers ...string) {
	t.Helper()
	begin := time.Now()
	a, err := s.Call(t.Context(), method, path, body, headers...)
	took := time.Since(begin)
	if err != nil {
		t.Error(err)
		return
	}
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s %s: status %d, Retry-After %q: %s; want 503", method, path, a.Status, a.Header.Get("Retry-After"), a.Body)
	}
	if took > bound {
		t.Errorf("%s %s: response after %v, want at most %v", method, path, took, bound)
	}
}
