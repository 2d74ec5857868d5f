package cluster

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/guidonhq/guidon/integration/harness"
)

// receiving are the settings with which a server delivers to receivers of tests.
var receiving = []string{"GUIDON_WEBHOOKS_ALLOW_HTTP=true", "GUIDON_WEBHOOKS_ALLOWED_NETWORKS=127.0.0.0/8"}

// receiver records what is delivered.
type receiver struct {
	*httptest.Server
	mu        sync.Mutex
	revisions []int64           // in the order of arrival
	bodies    map[string]string // by id
	last      time.Time
	failed    []string
	verifier  *standardwebhooks.Webhook
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{bodies: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		id := q.Header.Get("webhook-id")
		_, position, _ := strings.Cut(id, "@")
		number, _, _ := strings.Cut(position, ".")
		revision, err := strconv.ParseInt(number, 10, 64)
		time.Sleep(rand.N(60 * time.Millisecond)) // so that servers are killed during deliveries
		r.mu.Lock()
		defer r.mu.Unlock()
		if verify := r.verifier.Verify(body, q.Header); err != nil || verify != nil {
			r.failed = append(r.failed, fmt.Sprint(id, ": ", err, verify))
		}
		if before, seen := r.bodies[id]; seen && before != string(body) {
			r.failed = append(r.failed, id+": another body than the first time")
		}
		r.bodies[id], r.last = string(body), time.Now()
		r.revisions = append(r.revisions, revision)
	}))
	t.Cleanup(r.Close)
	return r
}

// hook creates the webhook of the receiver and returns its id.
func (r *receiver) hook(t *testing.T, s *harness.Server) string {
	t.Helper()
	var created struct{ ID, Secret string }
	s.Must(t, "POST", "/api/v1/webhooks", map[string]any{"namespaceKey": "default", "name": "test", "url": r.URL}, &created)
	verifier, err := standardwebhooks.NewWebhook(created.Secret)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verifier = verifier
	return created.ID
}

// await waits until the revision has been delivered.
func (r *receiver) await(t *testing.T, revision int64) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(50 * time.Millisecond) {
		r.mu.Lock()
		arrived := len(r.revisions) > 0 && r.revisions[len(r.revisions)-1] >= revision
		r.mu.Unlock()
		switch {
		case arrived:
			return
		case time.Now().After(deadline):
			t.Fatalf("revision %d was not delivered", revision)
		}
	}
}

// check checks that each revision in the range was delivered, in order, and nothing went back.
func (r *receiver) check(t *testing.T, first, last int64) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, problem := range r.failed {
		t.Error(problem)
	}
	next := first
	for i, revision := range r.revisions {
		switch {
		case revision == next:
			next++
		case revision != next-1: // what was under way when the server was killed comes again
			t.Fatalf("delivery %d is of revision %d, after %d", i, revision, next-1)
		}
	}
	if next != last+1 {
		t.Errorf("delivered up to revision %d, want %d", next-1, last)
	}
}

// TestWebhooksKilled kills the server 20 times during 500 changes: each is delivered at least once, in order, with the
// same id and body, and a valid signature.
func TestWebhooksKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	file := "file:" + filepath.Join(t.TempDir(), "guidon.db")
	r := newReceiver(t)
	s := harness.Start(t, file, receiving...)
	r.hook(t, s)
	first := revisionOf(t, s.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil)) + 1
	const changes = 500
	created := 0
	for kill := range kills {
		for range changes / kills {
			s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("f", created), "name": "f"}, nil)
			created++
		}
		time.Sleep(rand.N(1500 * time.Millisecond)) // at any moment of the deliveries, which are looked for once a second
		s.Signal(t, syscall.SIGKILL)
		s.Wait(t)
		if s = harness.Start(t, file, receiving...); kill%5 == 4 {
			r.await(t, first+int64(created)-1)
		}
	}
	r.await(t, first+changes-1)
	r.check(t, first, first+changes-1)
	t.Logf("%d deliveries of %d changes", len(r.revisions), changes)
}

// TestWebhooksTakeover: of two servers one delivers; if it is killed, the other does within 20 seconds.
func TestWebhooksTakeover(t *testing.T) {
	t.Parallel() // it mostly waits
	harness.AnyDatabase(t, func(t *testing.T, d *harness.DatabaseServer) {
		database := d.Migrated(t)
		r := newReceiver(t)
		servers := []*harness.Server{harness.Start(t, database, receiving...)}
		id := r.hook(t, servers[0])
		put := func(s *harness.Server, key string) int64 {
			t.Helper()
			return revisionOf(t, s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": "f"}, nil))
		}
		first := put(servers[0], "a")
		r.await(t, first)
		servers = append(servers, harness.Start(t, database, receiving...))
		r.await(t, put(servers[1], "b"))
		servers[0].Signal(t, syscall.SIGKILL) // which delivers
		servers[0].Wait(t)
		begun := time.Now()
		last := put(servers[1], "c")
		r.await(t, last)
		if took := time.Since(begun); took > 21*time.Second {
			t.Errorf("the other server took over after %v", took)
		}
		r.check(t, first, last)
		servers[1].Must(t, "DELETE", "/api/v1/webhooks/"+id, nil, nil)
	})
}
