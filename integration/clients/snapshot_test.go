package clients

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// downloadHeaders request the full snapshot, as a current client-side evaluator does.
var downloadHeaders = []string{"X-Flipt-Accept-Server-Version: 1.47.0", "Accept-Encoding: gzip"}

// download requests the snapshot of the default namespace, conditionally if etag is not
// empty.
func download(t *testing.T, s *harness.Server, etag string) harness.Answer {
	t.Helper()
	headers := downloadHeaders
	if etag != "" {
		headers = append(headers[:len(headers):len(headers)], "If-None-Match: "+etag)
	}
	a, err := s.Call(t.Context(), "GET", "/internal/v1/evaluation/snapshot/namespace/default", nil, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// fill stores enough flags for the body to be compressed.
func fill(t *testing.T, s *harness.Server) {
	t.Helper()
	s.Must(t, "POST", "/api/v1/namespaces/default/import", map[string]any{"document": harness.Document}, nil)
	for i := range 10 {
		s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("flag-", i), "name": "Flag"}, nil)
	}
}

// TestSnapshotIsTheSameEverywhere: all instances send the same bytes with the same ETag, so
// a client may use another instance for every request.
func TestSnapshotIsTheSameEverywhere(t *testing.T) {
	harness.AnyDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		c := []*harness.Server{harness.Start(t, database), harness.Start(t, database), harness.Start(t, database)}
		fill(t, c[0])
		want := download(t, c[0], "")
		if want.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("not compressed: %v", want.Header)
		}
		for i, s := range c {
			got := download(t, s, "")
			if got.Header.Get("Etag") != want.Header.Get("Etag") || !bytes.Equal(got.Body, want.Body) {
				t.Errorf("instance %d: %d bytes with ETag %s, want %d with %s",
					i, len(got.Body), got.Header.Get("Etag"), len(want.Body), want.Header.Get("Etag"))
			}
			if a := download(t, s, want.Header.Get("Etag")); a.Status != http.StatusNotModified || len(a.Body) != 0 {
				t.Errorf("instance %d: status %d for the current ETag, want 304", i, a.Status)
			}
		}
		c[1].Must(t, "DELETE", "/api/v1/namespaces/default/flags/flag-3", nil, nil)
		for i, s := range c {
			if a := download(t, s, want.Header.Get("Etag")); a.Status != http.StatusOK {
				t.Errorf("instance %d: status %d for an old ETag, want 200", i, a.Status)
			}
		}
	})
}

// TestSnapshotAfterRestart: a restart does not change the snapshot. A restored backup that
// reaches the same revision number again is a different state.
func TestSnapshotAfterRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	run := func(do func(s *harness.Server)) {
		t.Helper()
		s := harness.Start(t, "file:"+file)
		do(s)
		s.Signal(t, syscall.SIGTERM)
		if code := s.Wait(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, s.Log())
		}
	}
	change := func(s *harness.Server, key string) (revision string, a harness.Answer) {
		s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": "Flag"}, nil)
		a = download(t, s, "")
		return a.Header.Get("Guidon-Revision"), a
	}
	var first harness.Answer
	run(func(s *harness.Server) {
		fill(t, s)
		first = download(t, s, "")
	})
	backup, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lost string
	var changed harness.Answer
	run(func(s *harness.Server) {
		again := download(t, s, "")
		if again.Header.Get("Etag") != first.Header.Get("Etag") || !bytes.Equal(again.Body, first.Body) {
			t.Errorf("after a restart: %d bytes with ETag %s, want %d with %s",
				len(again.Body), again.Header.Get("Etag"), len(first.Body), first.Header.Get("Etag"))
		}
		lost, changed = change(s, "lost")
	})
	if err := os.WriteFile(file, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	run(func(s *harness.Server) {
		revision, _ := change(s, "other")
		if revision != lost {
			t.Fatalf("the restored database is at revision %s, want %s", revision, lost)
		}
		if a := download(t, s, changed.Header.Get("Etag")); a.Status != http.StatusOK {
			t.Errorf("status %d for the ETag of the lost state, want 200", a.Status)
		}
	})
}
