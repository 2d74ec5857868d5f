package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// event is a server-sent event, or a single field such as retry.
type event struct{ id, name, data, retry string }

// events is an open event stream.
type events struct {
	body   io.ReadCloser
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// streamClient opens a new connection for each stream.
var streamClient = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true, ReadBufferSize: 512, WriteBufferSize: 512}}

// openStream opens the stream at the path, which must exist. It is closed at the end of the
// test.
func openStream(t *testing.T, s *harness.Server, path string, headers ...string) *events {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := streamClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("%s: %d %s", path, response.StatusCode, text)
	}
	return &events{body: response.Body, lines: bufio.NewReaderSize(response.Body, 512), cancel: cancel}
}

// next returns the next event, ignoring comments, or the error that ended the stream.
func (e *events) next() (event, error) {
	for {
		one, err := e.read()
		if err != nil || one != (event{}) {
			return one, err
		}
	}
}

func (e *events) read() (one event, err error) {
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			return one, nil // also after a comment
		case "id":
			one.id = value
		case "event":
			one.name = value
		case "data":
			one.data = value
		case "retry":
			one.retry = value
		}
	}
}

// until reads up to the event with the id, at most for harness.Patience.
func (e *events) until(t *testing.T, id string) {
	t.Helper()
	late := time.AfterFunc(harness.Patience, e.cancel)
	defer late.Stop()
	for {
		one, err := e.next()
		if err != nil {
			t.Fatalf("waiting for event %s: %v", id, err)
		}
		if one.id == id || strings.HasPrefix(one.id, id+"-") {
			return
		}
	}
}

const (
	ofrepEvents  = "/ofrep/v1/events"
	changeEvents = "/api/v1/namespaces/default/changes/stream"
)

// TestStreamsAcrossInstances: writes to one instance reach the listeners of the others, in
// mode strict and without any other requests.
func TestStreamsAcrossInstances(t *testing.T) {
	t.Parallel() // it mostly waits
	harness.AnyDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		c := startCluster(t, instances, s.Migrated(t))
		var listening []*events
		for _, s := range c[1:] {
			listening = append(listening, openStream(t, s, ofrepEvents), openStream(t, s, changeEvents))
		}
		slowest := time.Duration(0)
		for n := range 5 {
			a := c[0].Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": fmt.Sprint("flag-", n), "name": "Flag"}, nil)
			committed := time.Now()
			revision := strconv.FormatInt(revisionOf(t, a), 10)
			for i, l := range listening {
				id := revision
				if i%2 == 1 {
					id += ".0"
				}
				l.until(t, id)
			}
			slowest = max(slowest, time.Since(committed))
		}
		t.Logf("from commit to the last of %d listeners: at most %v", len(listening), slowest)
		if slowest > 10*time.Second {
			t.Errorf("changes take up to %v", slowest)
		}
	})
}

// TestStreamsResume repeatedly kills the instance that streams changes while they are made.
// A client that resumes from the last event that it received gets every record once and in
// order.
func TestStreamsResume(t *testing.T) {
	const kills, writers, each = 4, 3, 100
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		writing, streaming := harness.Start(t, database), harness.Start(t, database)
		begun := writing.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil)
		first := revisionOf(t, begun)

		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for n := range each {
					key := fmt.Sprintf("flag-%d-%d", w, n)
					a, err := writing.Call(t.Context(), "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": "Flag"})
					if err != nil || a.Status != http.StatusOK {
						t.Errorf("%v, status %d", err, a.Status)
					}
				}
			})
		}
		const total = writers * each
		last := strconv.FormatInt(first, 10)
		seen := 0
		for kill := 0; seen < total; {
			l := openStream(t, streaming, changeEvents, "Last-Event-ID: "+last)
			late := time.AfterFunc(harness.Patience, l.cancel)
			for {
				one, err := l.next()
				if err != nil {
					break
				}
				if one.data == "" {
					continue
				}
				seen++
				var record struct {
					Revision int64
					Sequence int
				}
				if err := json.Unmarshal([]byte(one.data), &record); err != nil {
					t.Fatal(err)
				}
				if want := first + int64(seen); record.Revision != want || record.Sequence != 0 || one.id != fmt.Sprintf("%d.0", want) {
					t.Fatalf("event %s, revision %d, after %d; want %d", one.id, record.Revision, seen-1, want)
				}
				if last = one.id; seen == total {
					break
				}
				if kill < kills && seen > (kill+1)*total/(kills+1) {
					kill++
					streaming.Signal(t, syscall.SIGKILL)
					streaming.Wait(t)
					streaming = harness.Start(t, database)
					break
				}
			}
			if !late.Stop() {
				t.Fatalf("%d of %d records in %v", seen, total, harness.Patience)
			}
			l.cancel()
		}
		all.Wait()
	})
}

// TestStreamsEndWithToken: a stream ends when its token is deleted, even on another
// instance, and its URL becomes invalid.
func TestStreamsEndWithToken(t *testing.T) {
	const admin = "streams-test-token"
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		c := startCluster(t, 2, s.Migrated(t), "GUIDON_AUTHENTICATION_REQUIRED=true",
			"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+admin)
		var created struct {
			ClientToken    string
			Authentication struct{ ID string }
		}
		c[0].Must(t, "POST", "/auth/v1/method/token", map[string]any{"name": "browser"}, &created, "Authorization: Bearer "+admin)
		var bulk struct {
			EventStreams []struct{ Endpoint struct{ RequestURI string } }
		}
		c[0].Must(t, "POST", "/ofrep/v1/evaluate/flags", map[string]any{}, &bulk, "Authorization: Bearer "+created.ClientToken)
		if len(bulk.EventStreams) != 1 {
			t.Fatalf("%d streams are offered", len(bulk.EventStreams))
		}
		uri := bulk.EventStreams[0].Endpoint.RequestURI
		listening := []*events{
			openStream(t, c[0], uri), openStream(t, c[1], uri), // every instance accepts the signature
			openStream(t, c[1], changeEvents, "Authorization: Bearer "+created.ClientToken),
		}
		c[0].Must(t, "DELETE", "/auth/v1/tokens/"+created.Authentication.ID, nil, nil, "Authorization: Bearer "+admin)
		deleted := time.Now()
		for i, l := range listening {
			late := time.AfterFunc(harness.Patience, l.cancel)
			for err := error(nil); err == nil; {
				_, err = l.next()
			}
			if !late.Stop() {
				t.Errorf("stream %d did not end", i)
			}
		}
		t.Logf("all ended after %v", time.Since(deleted))
		for _, s := range c {
			if a, err := s.Call(t.Context(), "GET", uri, nil); err != nil || a.Status != http.StatusUnauthorized {
				t.Errorf("the URL of a deleted token: %v, %d %s", err, a.Status, a.Body)
			}
			if strings.Contains(s.Log(), "capability=") {
				t.Error("the log contains the URL")
			}
		}
	})
}
