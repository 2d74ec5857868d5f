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

// bounded returns the environment of a server in mode bounded.
func bounded(maxAge time.Duration) []string {
	return []string{"GUIDON_CACHE_MODE=bounded", "GUIDON_CACHE_MAX_AGE=" + maxAge.String()}
}

// sighting is one response: its revision, and when it was requested.
type sighting struct {
	begin    time.Time
	revision int64
}

// TestBounded reads from three instances while writing to one of them. The recorded
// history shows that no response was older than the maximum age when it was requested,
// that an instance immediately shows the writes that it has acknowledged, and that no
// reader saw a revision go backwards.
func TestBounded(t *testing.T) {
	const maxAge, writes, readers = 500 * time.Millisecond, 150, 9
	harness.AnyDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		c := startCluster(t, instances, s.Migrated(t), bounded(maxAge)...)
		acknowledged := []sighting{} // by the first instance; begin is the end of the write
		var done atomic.Bool
		answered := make(chan struct{}) // receives for each response while a goroutine waits
		var reading sync.WaitGroup
		seen := make([][]sighting, readers)
		for i := range seen {
			reading.Go(func() {
				for !done.Load() {
					at := time.Now()
					a, err := c[i%len(c)].Call(t.Context(), "GET", "/api/v1/namespaces/default/flags/nope", nil)
					if err != nil || a.Status != http.StatusNotFound {
						t.Errorf("%v, status %d: %s", err, a.Status, a.Body)
						return
					}
					seen[i] = append(seen[i], sighting{at, revisionOf(t, a)})
					select {
					case answered <- struct{}{}:
					default:
					}
				}
			})
		}
		for n := range writes {
			a := c[0].Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("flag-", n), "name": "Flag"}, nil)
			acknowledged = append(acknowledged, sighting{time.Now(), revisionOf(t, a)})
			await(t, 50, "responses", answered) // so that the history spans the maximum age several times
		}
		done.Store(true)
		reading.Wait()

		answers := 0
		for i, history := range seen {
			bound := maxAge
			if i%len(c) == 0 {
				bound = 0 // its own writes
			}
			last, next := int64(0), 0
			for _, sight := range history {
				for next < len(acknowledged) && !acknowledged[next].begin.Add(bound).After(sight.begin) {
					next++
				}
				if next > 0 && sight.revision < acknowledged[next-1].revision {
					t.Errorf("reader %d: revision %d, %v after %d was acknowledged", i, sight.revision,
						sight.begin.Sub(acknowledged[next-1].begin), acknowledged[next-1].revision)
				}
				if sight.revision < last {
					t.Errorf("reader %d: revision %d after %d", i, sight.revision, last)
				}
				last = sight.revision
			}
			answers += len(history)
		}
		t.Logf("%d responses, %d writes", answers, len(acknowledged))
	})
}

// TestReadYourWrites: a client that sends the revision of its write to another instance
// sees the write there. no-cache returns the current state even within the maximum age.
func TestReadYourWrites(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		c := startCluster(t, 2, s.Migrated(t), bounded(time.Minute)...)
		path := "/api/v1/namespaces/default/flags"
		c[1].Must(t, "GET", path, nil, nil)
		for n := range 50 {
			a := c[0].Must(t, "POST", path, map[string]any{"key": fmt.Sprint("flag-", n), "name": "Flag"}, nil)
			demand := "Guidon-Min-Revision: " + a.Header.Get("Guidon-Revision")
			if n%2 == 0 {
				demand = "Cache-Control: no-cache"
			}
			c[1].Must(t, "GET", path+fmt.Sprint("/flag-", n), nil, nil, demand)
		}
	})
}

// TestRestoredBackup: the database is restored from a backup under running servers, and
// other writes get the same revision numbers. Servers in each mode detect it.
func TestRestoredBackup(t *testing.T) {
	const maxAge = 200 * time.Millisecond
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		c := cluster{harness.Start(t, database), harness.Start(t, database, bounded(maxAge)...), harness.Start(t, database)}
		sql, err := harness.OpenSQL(database)
		if err != nil {
			t.Fatal(err)
		}
		defer sql.Close()
		run := func(format string) {
			for _, table := range []string{"namespaces", "flags", "segments", "changes", "authentications"} {
				statement := fmt.Sprintf(format, table)
				if _, err := sql.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		const path = "/api/v1/namespaces/default/flags"
		create := func(s *harness.Server, key string) string {
			return s.Must(t, "POST", path, map[string]any{"key": key, "name": key}, nil).Header.Get("Guidon-Revision")
		}
		create(c[2], "before")
		run("CREATE TABLE backup_%[1]s AS SELECT * FROM %[1]s")
		lost := create(c[2], "lost")
		for _, s := range c {
			s.Must(t, "GET", path+"/lost", nil, nil, "Cache-Control: no-cache")
		}
		run("DELETE FROM %[1]s")
		run("INSERT INTO %[1]s SELECT * FROM backup_%[1]s")
		if revision := create(c[2], "after"); revision != lost {
			t.Fatalf("revision %s after the backup, want %s once more", revision, lost)
		}
		for i, s := range c[:2] {
			end := time.Now().Add(maxAge * time.Duration(i)) // zero for the strict one
			for {
				begin := time.Now()
				a, err := s.Call(t.Context(), "GET", path+"/after", nil)
				if err != nil {
					t.Fatal(err)
				}
				if a.Status == http.StatusOK {
					break
				}
				if !begin.Before(end) {
					t.Fatalf("instance %d does not see the write after the restore: status %d", i, a.Status)
				}
			}
			if a, err := s.Call(t.Context(), "GET", path+"/lost", nil); err != nil || a.Status != http.StatusNotFound {
				t.Errorf("instance %d still has the flag that was lost in the restore: %v, status %d", i, err, a.Status)
			}
		}
	})
}
