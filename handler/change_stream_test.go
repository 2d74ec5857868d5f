package handler_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

const changesPath = "/api/v1/namespaces/default/changes/stream"

// eventIDs returns the ids of events as they arrive, until the stream ends.
func eventIDs(t *testing.T, body io.Reader) <-chan string {
	ids := make(chan string)
	go func() {
		defer close(ids)
		for lines := bufio.NewScanner(body); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				select {
				case ids <- id:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	return ids
}

// positions returns the ids of the events in text, with a "!" after that of a record.
func positions(text string) (all []string) {
	for event := range strings.SplitSeq(text, "\n\n") {
		id, rest, _ := strings.Cut(event, "\n")
		id, ok := strings.CutPrefix(id, "id: ")
		switch {
		case !ok:
		case strings.HasPrefix(rest, "event: change\ndata: {"):
			all = append(all, id+"!")
		default:
			all = append(all, id)
		}
	}
	return all
}

// TestChangeStream: a client receives every record once and in order. It starts at the
// position that it requests or has reached before, and then gets records as they appear.
func TestChangeStream(t *testing.T) {
	for _, test := range []struct {
		name, query, last string
		first, later      []string // 2.0, 3.0 and 3.1 exist before; 4.0, 4.1 and 5.0 are written later
	}{
		{"from now on", "", "", []string{"3.1"}, []string{"4.0!", "4.1!", "5.0!"}},
		{"from the beginning", "?from=0", "", []string{"0", "2.0!", "3.0!", "3.1!"}, []string{"4.0!", "4.1!", "5.0!"}},
		{"after a revision", "?from=2", "", []string{"2", "3.0!", "3.1!"}, []string{"4.0!", "4.1!", "5.0!"}},
		{"after a record", "?from=3.0", "", []string{"3.0", "3.1!"}, []string{"4.0!", "4.1!", "5.0!"}},
		{"after the newest", "?from=3.1", "", []string{"3.1"}, []string{"4.0!", "4.1!", "5.0!"}},
		{"after reconnecting", "?from=0", "3.0", []string{"3.0", "3.1!"}, []string{"4.0!", "4.1!", "5.0!"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				j := newJournal()
				j.write(1)
				j.write(2)
				h, _ := streaming(j)
				headers := []string{}
				if test.last != "" {
					headers = []string{"Last-Event-ID", test.last}
				}
				l := listen(t, h, changesPath+test.query, headers...)
				if diff := cmp.Diff(test.first, positions(l.next())); diff != "" {
					t.Errorf("at the start (-want +got):\n%s", diff)
				}
				time.Sleep(time.Second)
				j.write(2)
				j.write(1)
				time.Sleep(time.Second)
				if diff := cmp.Diff(test.later, positions(l.next())); diff != "" {
					t.Errorf("later (-want +got):\n%s", diff)
				}
				reads := j.reads
				j.setTokens() // wakes all streams without a change
				time.Sleep(time.Second)
				if got := l.next(); got != "" || j.reads != reads {
					t.Errorf("without a change got %q, %d reads", got, j.reads-reads)
				}
				l.cancel()
				synctest.Wait()
			})
		})
	}
}

// TestChangeStreamRecords: events are equal to the records in the list of changes,
// whatever they contain, even after the namespace was deleted.
func TestChangeStreamRecords(t *testing.T) {
	s := newStreaming(t, stream.Config{MaxChanges: 1})
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`)
	ids, records := s.follow("/api/v1/namespaces/shop/changes/stream?from=0")
	s.must("", "POST", "/api/v1/namespaces/shop/flags", `{"key":"a","name":"line\nline\r\n\u2028"}`)
	for i := range 150 { // more than one page
		s.must("", "PUT", "/api/v1/namespaces/shop/flags/a", fmt.Sprintf(`{"name":"%d"}`, i))
	}
	s.must("", "POST", "/api/v1/namespaces/shop/import", `{"document":{"segments":[{"key":"s","name":"S"}]}}`, "Guidon-Message", "Gr%C3%BC%C3%9Fe")
	s.must("", "DELETE", "/api/v1/namespaces/shop/flags/a", "")
	s.must("", "DELETE", "/api/v1/namespaces/shop", "")
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop once more"}`)

	var want []string
	for token := ""; ; {
		var list struct {
			Changes       []json.RawMessage
			NextPageToken string
		}
		r := s.must("", "GET", "/api/v1/namespaces/shop/changes?limit=100&pageToken="+strings.ReplaceAll(token, "=", "%3D"), "")
		if err := json.Unmarshal([]byte(r.body), &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Changes {
			want = append([]string{string(c)}, want...)
		}
		if token = list.NextPageToken; token == "" {
			break
		}
	}
	if len(want) != 157 {
		t.Fatalf("%d records", len(want))
	}
	if id := <-ids; id != "0" {
		t.Errorf("starts at %s, want 0", id)
	}
	for i := range want {
		id, record := <-ids, <-records
		var place struct{ Revision, Sequence int }
		if err := json.Unmarshal([]byte(record), &place); err != nil || record != want[i] || id != fmt.Sprintf("%d.%d", place.Revision, place.Sequence) {
			t.Fatalf("event %d, %s: got %s, want %s", i, id, record, want[i])
		}
	}
}

// follow opens a stream and returns the ids and data of its events.
func (s *server) follow(path string) (ids, data <-chan string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d", path, response.StatusCode)
	}
	allIDs, allData := make(chan string, 1000), make(chan string, 1000)
	go func() {
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				allIDs <- id
			} else if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				allData <- text
			}
		}
	}()
	return allIDs, allData
}

// TestChangeStreamRewound: after a backup was restored, the position of a client is in a
// history that no longer exists. The stream ends with an error instead of continuing.
func TestChangeStreamRewound(t *testing.T) {
	for name, restore := range map[string]func(j *journal){
		"to an earlier revision": func(j *journal) { j.set(2, 2) },
		"to the same one":        func(j *journal) { j.set(3, 77) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				j := newJournal()
				j.write(1)
				j.write(1)
				h, streams := streaming(j)
				l := listen(t, h, changesPath)
				l.next()
				time.Sleep(time.Second)
				restore(j)
				time.Sleep(5 * time.Second) // longer than a request waits for a revision
				if got := l.next(); !l.ended() || got != "" {
					t.Errorf("got %q, ended %t", got, l.ended())
				}
				if got := streams.Stats()[1].Ended["rewound"]; got != 1 {
					t.Errorf("ended %v", streams.Stats()[1].Ended)
				}
			})
		})
	}
	bubble.Test(t, func(t *testing.T) {
		h, _ := streaming(newJournal())
		r := httptest.NewRecorder()
		h.ServeHTTP(&wire{ResponseRecorder: r}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+changesPath+"?from=9", nil))
		if r.Code != http.StatusServiceUnavailable {
			t.Errorf("a revision that does not exist: %d", r.Code)
		}
	})
}

// TestChangeStreamsShareReads: records that several streams wait for are read once. If
// the client of the reading stream disconnects, the others still receive them.
func TestChangeStreamsShareReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g := &gatedJournal{journal: newJournal(), gate: make(chan struct{})}
		streams := stream.NewHub(stream.Config{Subscribe: g.Subscribe, MaxChanges: 20})
		h := handler.New(handler.Config{Service: service.NewService(g, time.Now), Streams: streams})
		all := make([]*streamClient, 20)
		for i := range all {
			all[i] = listen(t, h, changesPath+"?from=0")
			all[i].next()
		}
		time.Sleep(time.Second)
		before := g.calls
		g.hold(true)
		g.write(1)
		synctest.Wait() // one reads, the others wait for it
		if got := g.calls - before; got != 1 {
			t.Errorf("%d concurrent reads, want 1", got)
		}
		for _, l := range all[:19] {
			l.cancel()
		}
		synctest.Wait()
		g.hold(false)
		if got := positions(all[19].next()); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		all[19].cancel()
		synctest.Wait()
	})
}

// gatedJournal blocks reads of change records while it is closed.
type gatedJournal struct {
	*journal
	gate   chan struct{}
	closed bool
	calls  int
}

func (g *gatedJournal) hold(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed = closed; !closed {
		close(g.gate)
	}
}

func (g *gatedJournal) Changes(ctx context.Context, query change.Query) ([]*change.Record, error) {
	g.mu.Lock()
	closed := g.closed
	g.calls++
	g.mu.Unlock()
	if closed {
		select {
		case <-g.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return g.journal.Changes(ctx, query)
}
