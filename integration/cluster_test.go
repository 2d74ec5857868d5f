package integration

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// instances is how many servers share one database in these tests.
const instances = 3

// cluster is a number of servers on one database.
type cluster []*server

// startCluster starts the servers on the database of the URL, at once, and waits
// until all of them serve.
func startCluster(t *testing.T, n int, database string, env ...string) cluster {
	t.Helper()
	c := make(cluster, n)
	for i := range c {
		c[i] = launch(t, database, env...)
	}
	for _, s := range c {
		s.serving(t)
	}
	return c
}

// check holds every server against the ledger.
func (c cluster) check(t *testing.T, l *ledger) {
	t.Helper()
	for _, s := range c {
		select {
		case err := <-s.done:
			t.Errorf("a server has ended: %v", err)
		default:
			l.check(t, s)
		}
	}
}

// load is a number of writers that write until they are told to stop, whatever
// becomes of their writes.
type load struct {
	ledger  *ledger
	stopped chan struct{}
	writing sync.WaitGroup

	acknowledged chan struct{} // receives for writes, while somebody waits
	failed       chan struct{}
	slowest      atomic.Int64 // duration of a write
	failures     atomic.Int64
}

// startLoad lets the writers begin, spread over the servers.
func startLoad(t *testing.T, c cluster, l *ledger, writers int) *load {
	w := &load{ledger: l, stopped: make(chan struct{}), acknowledged: make(chan struct{}), failed: make(chan struct{})}
	for i := range writers {
		w.writing.Go(func() { w.write(t, c[i%len(c)], i) })
	}
	t.Cleanup(w.stop)
	return w
}

func (w *load) write(t *testing.T, s *server, writer int) {
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
		told := w.acknowledged
		switch result {
		case acknowledged:
		case gone:
			t.Errorf("a server gave no answer to writer %d", writer)
			return
		default:
			w.failures.Add(1)
			told = w.failed
		}
		select {
		case told <- struct{}{}:
		default:
		}
	}
}

// await waits for so many events, as long as the patience of the tests lasts.
func await(t *testing.T, n int, what string, events <-chan struct{}) {
	t.Helper()
	end := time.After(patience)
	for i := range n {
		select {
		case <-events:
		case <-end:
			t.Fatalf("%d of %d %s after %v", i, n, what, patience)
		}
	}
}

// stop ends the writers after the writes that are under way. It may be called
// again.
func (w *load) stop() {
	select {
	case <-w.stopped:
	default:
		close(w.stopped)
	}
	w.writing.Wait()
}

// recovered waits until the server writes again, without having been told.
func (s *server) recovered(t *testing.T, l *ledger, id string) {
	t.Helper()
	end := time.Now().Add(patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for n := 0; l.write(t, s, fmt.Sprintf("%s-%d", id, n), 0) != acknowledged; n++ {
		if time.Now().After(end) {
			t.Fatalf("%s does not recover", s.URL)
		}
		<-again.C
	}
}

// failsFast sends a request while the database is away and checks that it is
// answered within the bound: refused with 503 and when to try again.
func (s *server) failsFast(t *testing.T, bound time.Duration, method, path string, body any, headers ...string) {
	t.Helper()
	begin := time.Now()
	a, err := s.call(t.Context(), method, path, body, headers...)
	took := time.Since(begin)
	if err != nil {
		t.Error(err)
		return
	}
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s %s: status %d, Retry-After %q: %s; want 503", method, path, a.Status, a.Header.Get("Retry-After"), a.Body)
	}
	if took > bound {
		t.Errorf("%s %s: answered after %v, want at most %v", method, path, took, bound)
	}
}
