package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestTwoThousandStreams: one instance serves 2000 listeners, all of them are notified of a
// change, and when it stops each gets a different time to reconnect.
func TestTwoThousandStreams(t *testing.T) {
	const clients, bound = 2000, 64 << 20
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"))
	idle := resident(t, s)
	all := make([]*events, clients)
	var opening sync.WaitGroup
	for first := range 20 {
		opening.Go(func() {
			for i := first; i < clients; i += 20 {
				all[i] = openStream(t, s, ofrepEvents)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	opened := resident(t, s)

	written := make(chan time.Time, 1)
	var reached sync.WaitGroup
	took, failed := make([]time.Duration, clients), make([]error, clients)
	for i, l := range all {
		reached.Go(func() {
			late := time.AfterFunc(harness.Patience, l.cancel)
			defer late.Stop()
			for {
				one, err := l.next()
				if err != nil {
					failed[i] = err
					return
				}
				if strings.HasPrefix(one.id, "2-") {
					at := <-written
					written <- at
					took[i] = time.Since(at)
					return
				}
			}
		})
	}
	begin := time.Now()
	s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "a", "name": "A"}, nil)
	written <- begin
	reached.Wait()
	slowest := time.Duration(0)
	for i := range all {
		if failed[i] != nil {
			t.Fatalf("listener %d: %v", i, failed[i])
		}
		slowest = max(slowest, took[i])
	}
	notified := resident(t, s)
	t.Logf("memory: %d MiB idle, %d MiB with %d listeners, %d MiB after all were notified within %v",
		idle>>20, opened>>20, clients, notified>>20, slowest)
	if most := max(opened, notified); most > bound {
		t.Errorf("%d MiB are used, want at most %d", most>>20, bound>>20)
	}

	s.Signal(t, syscall.SIGTERM)
	signalled := time.Now()
	moments := make([]int, clients)
	var ending sync.WaitGroup
	for i, l := range all {
		ending.Go(func() {
			late := time.AfterFunc(harness.Patience, l.cancel)
			defer late.Stop()
			for {
				one, err := l.next()
				if err != nil {
					if err != io.EOF {
						failed[i] = err
					}
					return
				}
				moments[i], _ = strconv.Atoi(one.retry)
			}
		})
	}
	if code := s.Wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	stopped := time.Since(signalled)
	ending.Wait()
	seconds := map[int]int{}
	for i, ms := range moments {
		if failed[i] != nil || ms == 0 {
			t.Fatalf("listener %d got no time to reconnect: %v", i, failed[i])
		}
		seconds[ms/1000]++
	}
	busiest := 0
	for _, n := range seconds {
		busiest = max(busiest, n)
	}
	t.Logf("stopped within %v; at most %d reconnect in a second", stopped, busiest)
	if stopped > 5*time.Second || busiest > clients/10 {
		t.Error("want a stop within 5s, and at most a tenth of the listeners in any second")
	}
}

// resident returns the resident memory of the server, in bytes, without the pages of files: the
// kernel maps the program generously, and drops its pages when memory is short.
func resident(t *testing.T, s *harness.Server) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		harness.Skip(t, "cannot read the memory of a process: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		var kB int64
		if n, _ := fmt.Sscanf(line, "RssAnon: %d kB", &kB); n == 1 {
			return kB << 10
		}
	}
	t.Fatalf("no RssAnon in %s", text)
	return 0
}
